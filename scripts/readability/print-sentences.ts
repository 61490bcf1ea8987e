/** Prints the sentences of the given files or folders as the reading test shows them, one in a line. */
import { listSentences } from "./names-and-sentences.ts";

const paths = process.argv.slice(2);
for (const { text, file } of listSentences())
  if (paths.length === 0 || paths.some((path) => file.startsWith(path))) console.log(`${file}\t${text}`);
