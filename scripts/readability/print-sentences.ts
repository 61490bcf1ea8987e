/** Prints the sentences of the given files or folders as the reading test shows them, one in a line. */
import { listProseSentences } from "./list-names-and-sentences.ts";

const printedPathPrefixes = process.argv.slice(2);
for (const { text, file } of listProseSentences())
  if (printedPathPrefixes.length === 0 || printedPathPrefixes.some((path) => file.startsWith(path)))
    console.log(`${file}\t${text}`);
