// Called by used_styles.py: node used_styles.mjs OUTDIR STYLE... prints the rules of the style sheets that the site uses.
import { PurgeCSS } from "purgecss";

const [outdir, ...css] = process.argv.slice(2);
const results = await new PurgeCSS().purge({
  content: [`${outdir}/**/*.html`, `${outdir}/_static/**/*.js`],
  skippedContentGlobs: [`${outdir}/_static/scripts/fontawesome.js`],
  css,
  safelist: { greedy: [/data-theme/, /data-mode/] },
});
process.stdout.write(JSON.stringify(Object.fromEntries(results.map(({ file, css }) => [file, css]))));
