import { spawnSync } from "node:child_process";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { RELOAD_QUERY_NAME } from "./reloadable-modules.ts";

const RELOAD_MARKER = new RegExp(`[?&]${RELOAD_QUERY_NAME}=\\d+`, "g");

/** Removes the versions of reloaded modules from a text, such as a stack trace. */
export function cleanReloadMarkers(text: string): string {
  return text.replaceAll(RELOAD_MARKER, "");
}

/**
 * Formats an error of an agent file with the stack frames of the user's files. Paths are relative to `cwd`. `files`
 * are the files that may contain a syntax error, because the error itself does not name its file.
 */
export function formatLoadError(error: unknown, files: Iterable<string>, cwd: string): string {
  if (error instanceof SyntaxError) {
    for (const file of files) {
      const { status, stderr } = spawnSync(process.execPath, ["--check", file], { encoding: "utf8" });
      if (status !== 0) return toRelativePaths(dropInternalFrames(stderr), cwd);
    }
  }
  const stack = error instanceof Error ? (error.stack ?? String(error)) : `The file threw ${String(error)}.`;
  return toRelativePaths(dropInternalFrames(stack), cwd);
}

/** Removes the frames of Node.js, of packages, and of Colloquy, and the version line that Node.js prints. */
function dropInternalFrames(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => !/^\s+at .*(?:node:internal|\/node_modules\/|node:vm)/.test(line) && !/^Node\.js v/.test(line))
    .filter((line) => !line.includes(OWN_CODE_URL))
    .join("\n")
    .trim();
}

const OWN_CODE_URL = new URL("..", import.meta.url).href;

function toRelativePaths(text: string, cwd: string): string {
  return cleanReloadMarkers(text).replaceAll(/file:\/\/[^\s:)]*(?::\/[^\s:)]*)?/g, (url) => {
    try {
      return toShorterPath(fileURLToPath(url), cwd);
    } catch {
      return url;
    }
  });
}

function toShorterPath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith("..") ? file : path;
}
