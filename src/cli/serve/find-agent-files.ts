import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { createUsageError } from "../cli-error.ts";

/**
 * A file that the agent search examined. The search determines either an id for the file's name or the
 * reason why the file was skipped.
 */
type AgentFileCandidate = { file: string; fileId: string } | { file: string; skipped: string };

const AGENT_FILE_EXTENSIONS = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

/**
 * Finds the agent files among the given files and in the given directories. If a directory contains
 * `agent.ts`, the search returns only `agent.ts`. In a directory without `agent.ts`, the search returns every
 * `name.ts` and `name/agent.ts` (ADK's layout). The search also returns each skipped file with a reason, so
 * that the command can explain a missing agent.
 */
export async function findAgentFiles(paths: readonly string[]): Promise<AgentFileCandidate[]> {
  const found: AgentFileCandidate[] = [];
  for (const path of paths) {
    const absolute = resolve(path);
    const stats = await stat(absolute).catch(() => undefined);
    if (!stats) {
      throw createUsageError(
        `${path} does not exist (looked for ${absolute}).`,
        "Pass an agent file, or a directory with agent files.",
      );
    }
    if (stats.isDirectory()) found.push(...(await findAgentFilesInDirectory(absolute)));
    else found.push({ file: absolute, fileId: deriveFileId(absolute) });
  }
  return removeDuplicateFiles(found);
}

async function findAgentFilesInDirectory(directory: string): Promise<AgentFileCandidate[]> {
  const ownAgent = await findAgentFile(directory);
  if (ownAgent) return [{ file: ownAgent, fileId: deriveFileId(ownAgent) }];
  const found: AgentFileCandidate[] = [];
  const entries = await readdir(directory, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = join(directory, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    if (entry.isDirectory()) {
      const nested = await findAgentFile(file);
      found.push(
        nested ? { file: nested, fileId: deriveFileId(nested) } : { file, skipped: "has no agent.ts" },
      );
    } else if (AGENT_FILE_EXTENSIONS.includes(extname(entry.name))) {
      const reason = findSkipReason(entry.name);
      found.push(reason ? { file, skipped: reason } : { file, fileId: deriveFileId(file) });
    }
  }
  return found;
}

async function findAgentFile(directory: string): Promise<string | undefined> {
  const entries = new Set(await readdir(directory));
  const name = AGENT_FILE_EXTENSIONS.map((extension) => `agent${extension}`).find((candidate) =>
    entries.has(candidate),
  );
  return name && join(directory, name);
}

function findSkipReason(name: string): string | undefined {
  if (/\.d\.[mc]?ts$/.test(name)) return "only declares types";
  if (/\.(test|spec)\.[^.]+$/.test(name)) return "is a test";
  if (/\.config\.[^.]+$/.test(name)) return "is a configuration";
  return undefined;
}

/**
 * Derives an id from a file path. The id of `weather.ts` and of `weather/agent.ts` is `weather`. An agent without a
 * name has this id. The id omits a number at the start of the file name, because the number only sorts the files.
 */
function deriveFileId(file: string): string {
  const name = basename(file, extname(file));
  const id = name === "agent" || name === "index" ? basename(dirname(file)) : name;
  return toUrlSafeAgentId(id.replace(/^\d+[-_.]/, ""));
}

/** Converts a name to an agent id that is valid in a URL. */
export function toUrlSafeAgentId(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "") || "agent";
}

/** Removes the files that several paths select. */
function removeDuplicateFiles(found: readonly AgentFileCandidate[]): AgentFileCandidate[] {
  const files = new Set<string>();
  return found.filter(({ file }) => !files.has(file) && files.add(file));
}

/** Returns the path relative to the working directory, or the absolute path of a file elsewhere. */
export function formatPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith("..") || path === "" ? file : path;
}
