/** Counts the files that a process loads as modules, and prints the count to stderr when the process exits. */
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";

const files = new Set();
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith("file:")) files.add(url);
    return nextLoad(url, context);
  },
});
process.on("exit", () => writeSync(2, `\nloaded modules: ${files.size}\n`));
