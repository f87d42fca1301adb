// Called by used_styles.py: node used_styles.mjs OUTDIR STYLE... cuts each style sheet down to what the site uses.
import { writeFileSync } from "node:fs";
import { PurgeCSS } from "purgecss";

const [outdir, ...css] = process.argv.slice(2);
const results = await new PurgeCSS().purge({
  content: [`${outdir}/**/*.html`, `${outdir}/_static/**/*.js`],
  skippedContentGlobs: [`${outdir}/_static/scripts/fontawesome.js`],
  css,
  safelist: { greedy: [/data-theme/, /data-mode/] },
});
for (const { file, css } of results) writeFileSync(file, css);
