"""Sphinx extension: notebooks whose outputs are not in the cache are executed side by side before Sphinx reads them.

Sphinx alone would execute one after the other. One that fails stays out of the cache: Sphinx executes it again, and says
what is wrong.
"""

import logging

from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor

logger = logging.getLogger(__name__)
logger.setLevel(logging.INFO)  # with it the executor says which notebook begins and ends


def execute_notebooks(app, env, docnames):
    cache = get_cache(app.config.nb_execution_cache_path)
    paths = [path for path in map(env.doc2path, docnames) if path.endswith(".ipynb")]
    for path in paths:
        cache.add_nb_to_project(path)
    if len(cache.list_unexecuted(filter_uris=paths)) > 1:
        executor = load_executor("local-parallel", cache, logger)
        executor.run_and_cache(filter_uris=paths, timeout=app.config.nb_execution_timeout)


def setup(app):
    app.connect("env-before-read-docs", execute_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
