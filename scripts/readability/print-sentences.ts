/** Prints the sentences of the given files or folders as the reading test shows them, one in a line. */
import { listProseSentencesInProject } from "./list-names-and-sentences.ts";

const printedSentencePathPrefixes = process.argv.slice(2);
for (const { text, file } of listProseSentencesInProject())
  if (
    printedSentencePathPrefixes.length === 0 ||
    printedSentencePathPrefixes.some((path) => file.startsWith(path))
  )
    console.log(`${file}\t${text}`);
