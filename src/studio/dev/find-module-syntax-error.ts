import { readFileSync, statSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

/** Other files can be CommonJS, whose syntax differs, or no code. */
const CHECKED_FILE = /\.(?:m?ts|mjs)$/;

/**
 * Parses a file with the TypeScript parser of Node.js, and returns the syntax error with its position. Returns
 * `undefined` for a correct file, for a missing file, and for files that are not checked.
 */
export function findModuleSyntaxError(file: string): SyntaxError | undefined {
  if (!CHECKED_FILE.test(file)) return undefined;
  try {
    const source = readFileSync(file, "utf8");
    withoutWarnings(() => stripTypeScriptTypes(source));
  } catch (error) {
    // Syntax that Node.js cannot strip, such as `enum`, is correct, and jiti loads it.
    if (!(error instanceof SyntaxError) || !hasErrorCode(error, "ERR_INVALID_TYPESCRIPT_SYNTAX"))
      return undefined;
    // The stack begins with the line number, because the parser does not know the file. No frame is in the user's code.
    error.stack = file + (error.stack ?? "").split("\n    at ", 1)[0];
    return error;
  }
  return undefined;
}

/** Returns whether a file is empty or has a syntax error, as after the first write of an editor. */
export function isHalfWrittenFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.size === 0 || findModuleSyntaxError(file) !== undefined;
}

function hasErrorCode(error: Error, code: string): boolean {
  return "code" in error && error.code === code;
}

/** Node.js warns that the function is experimental. The import of TypeScript files, which uses it too, does not warn. */
function withoutWarnings(work: () => void): void {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
