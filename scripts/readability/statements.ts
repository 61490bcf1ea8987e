/**
 * `npm run -s statements` counts what `src/` consists of without its tests, fixtures, contracts and generated files:
 * statements in the syntax tree, and lines that hold more than comments and blanks.
 */
import { globSync, readFileSync } from "node:fs";
import { getSourceLanguage, walkNodes } from "../../test/support/syntax-tree.ts";

const TEST_FILE_PATTERN = /\.(test|contract|fixture)\.ts$/;
const GENERATED_PAGE_BUNDLE_FILE_NAME = "page-bundle.ts";
const STATEMENT_TYPE_PATTERN =
  /^(?!Block|TSModuleBlock)\w*Statement$|^(?:Import|Export\w*|Variable|Function|Class|TSInterface|TSTypeAlias)Declaration$/;

interface StatementAndLineCounts {
  readonly files: number;
  readonly statements: number;
  readonly lines: number;
}

function countStatements(source: string, language: "ts" | "tsx"): number {
  let count = 0;
  for (const { type } of walkNodes(source, language)) if (STATEMENT_TYPE_PATTERN.test(type)) count++;
  return count;
}

/** Lines left over when comments are taken out. Comment markers inside of strings do not occur at the start of a line. */
function countCodeLines(source: string): number {
  const code = source.replaceAll(/^\s*\/\*[^]*?\*\/$/gm, "").replaceAll(/^\s*\/\/.*$/gm, "");
  return code.split("\n").filter((line) => line.trim() !== "").length;
}

function countFilesStatementsAndLines(files: readonly string[]): StatementAndLineCounts {
  const sources = files.map((file) => ({ file, source: readFileSync(file, "utf8") }));
  return {
    files: files.length,
    statements: sources.reduce(
      (sum, { file, source }) => sum + countStatements(source, getSourceLanguage(file)),
      0,
    ),
    lines: sources.reduce((sum, { source }) => sum + countCodeLines(source), 0),
  };
}

const countedSourceFiles = globSync("src/**/*.{ts,tsx}").filter(
  (file) => !TEST_FILE_PATTERN.test(file) && !file.endsWith(GENERATED_PAGE_BUNDLE_FILE_NAME),
);
const sourceFilesByFolder = Object.groupBy(
  countedSourceFiles,
  (file) => file.split("/").slice(1, -1)[0] ?? "(front)",
);
const statementCountsByFolder = Object.entries(sourceFilesByFolder).map(([room, of = []]) => ({
  room,
  ...countFilesStatementsAndLines(of),
}));
for (const { room, files: number, statements, lines } of [
  ...statementCountsByFolder,
  { room: "all", ...countFilesStatementsAndLines(countedSourceFiles) },
])
  console.log(
    `${room.padEnd(14)} ${String(number).padStart(4)} files ${String(statements).padStart(6)} statements ${String(lines).padStart(6)} lines`,
  );
