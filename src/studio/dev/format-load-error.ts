import { execFile } from "node:child_process";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { OWN_CODE_URL } from "./own-code-url.ts";

/** The query of `RELOAD_QUERY_NAME`. */
const RELOAD_MARKER = /[?&]colloquy-reload=\d{1,15}/g;

/** Removes the versions of reloaded modules from a text, such as a stack trace. */
export function cleanReloadMarkers(text: string): string {
  return text.replaceAll(RELOAD_MARKER, "");
}

/** Formats an error with the stack frames of the user's files. Paths are relative to `cwd`. */
export function formatErrorStack(error: unknown, cwd: string): string {
  const stack =
    error instanceof Error
      ? (error.stack ?? error.message)
      : `Something threw ${typeof error === "string" ? error : inspect(error)}.`;
  return formatStack(stack, cwd);
}

/**
 * Formats an error of an agent file like `formatErrorStack`. V8 does not name the file of a syntax error, so that the
 * function searches for the error in `files`.
 */
export async function formatLoadError(error: unknown, files: Iterable<string>, cwd: string): Promise<string> {
  if (error instanceof SyntaxError && !hasPosition(error)) {
    const text = await findSyntaxError(files);
    if (text !== undefined) return formatStack(text, cwd);
  }
  return formatErrorStack(error, cwd);
}

/** Type stripping puts the position before the message. jiti puts the position into the message. */
function hasPosition({ stack = "" }: SyntaxError): boolean {
  return !stack.startsWith("SyntaxError") || stack.includes("ParseError");
}

/** Removes the frames of strangers from a stack, and makes the paths relative to `cwd`. */
export function formatStack(stack: string, cwd: string): string {
  return toRelativePaths(dropForeignFrames(stack), cwd);
}

/** Parses each file as an ES module, and throws the first syntax error with its position. */
const SYNTAX_CHECK = `
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { SourceTextModule } from "node:vm";
for (const file of process.argv.slice(1)) {
  const source = readFileSync(file, "utf8");
  new SourceTextModule(/\\.[mc]?ts$/.test(file) ? stripTypeScriptTypes(source) : source, { identifier: file });
}`;

/** Resolves with the first syntax error of the files as Node.js prints it, or with `undefined` if all are correct. */
function findSyntaxError(files: Iterable<string>): Promise<string | undefined> {
  const flags = ["--no-warnings", "--experimental-vm-modules", "--input-type=module"];
  return new Promise((resolve) => {
    execFile(process.execPath, [...flags, "-e", SYNTAX_CHECK, "--", ...files], (error, _, stderr) =>
      resolve(error && stderr.includes("SyntaxError") ? stderr : undefined),
    );
  });
}

/** Removes the frames of Node.js, of packages, and of Colloquy. */
function dropForeignFrames(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => !isForeignLine(line))
    .join("\n")
    .trim();
}

function isForeignLine(line: string): boolean {
  if (line.startsWith("Node.js v")) return true;
  const isFrame = /^\s+at /.test(line);
  const isBuiltIn = /node:|[\\/]node_modules[\\/]|\[eval|\(<anonymous>\)$/.test(line);
  return isFrame && (isBuiltIn || line.includes(OWN_CODE_URL));
}

function toRelativePaths(text: string, cwd: string): string {
  return cleanReloadMarkers(text)
    .replaceAll(/file:\/\/[^\s)]{0,4096}/g, toFilePath)
    .replaceAll(`${cwd}/`, "");
}

/** Replaces the URL of a position, such as `file:///a.ts:1:2`, by a path. */
function toFilePath(position: string): string {
  const numbers = /(?::\d{1,9}){0,2}:?$/.exec(position)?.[0] ?? "";
  try {
    return fileURLToPath(position.slice(0, position.length - numbers.length)) + numbers;
  } catch {
    return position;
  }
}

/** Formats a file path relative to a directory, if the file is below the directory. */
export function toRelativePath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith("../..") ? file : path;
}
