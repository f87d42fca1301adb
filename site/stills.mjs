// Reads {model id: widget state} from stdin, writes {model id: still html}; called by widget_stills.py.
import { text } from "node:stream/consumers";

const states = JSON.parse(await text(process.stdin));
const stills = {};
for (const [id, { _esm, ...state }] of Object.entries(states)) {
  const { still } = await import("data:text/javascript;base64," + Buffer.from(_esm).toString("base64"));
  stills[id] = still(state);
}
process.stdout.write(JSON.stringify(stills));
