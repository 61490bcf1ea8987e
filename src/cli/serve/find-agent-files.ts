import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { createUsageError } from "../cli-error.ts";

/** A file that was looked at: one that may hold an agent, or why it does not. */
export type AgentFileCandidate = { file: string; id: string } | { file: string; skipped: string };

const AGENT_FILE_EXTENSIONS = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

/**
 * The agent files that `paths` mean: a file itself; in a directory every `name.ts` and every `name/agent.ts` (ADK's
 * layout), or the directory's own `agent.ts` when it has one. What was considered and passed over is in the answer
 * too, with the reason, so that no agent is ever missed in silence.
 */
export async function findAgentFiles(paths: readonly string[]): Promise<AgentFileCandidate[]> {
  const found: AgentFileCandidate[] = [];
  for (const path of paths) {
    const absolute = resolve(path);
    const is = await stat(absolute).catch(() => undefined);
    if (!is) {
      throw createUsageError(`${path} does not exist (looked for ${absolute}).`,
        "Give the file of an agent, or a directory with agents in it.",
      );
    }
    if (is.isDirectory()) found.push(...(await searchDirectory(absolute)));
    else found.push({ file: absolute, id: deriveAgentId(absolute) });
  }
  return skipDuplicates(found);
}

async function searchDirectory(directory: string): Promise<AgentFileCandidate[]> {
  const own = await findAgentFile(directory);
  if (own) return [{ file: own, id: deriveAgentId(own) }];
  const found: AgentFileCandidate[] = [];
  const entries = await readdir(directory, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = join(directory, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    if (entry.isDirectory()) {
      const inside = await findAgentFile(file);
      found.push(inside ? { file: inside, id: deriveAgentId(inside) } : { file, skipped: "has no agent.ts" });
    } else if (AGENT_FILE_EXTENSIONS.includes(extname(entry.name))) {
      const reason = findSkipReason(entry.name);
      found.push(reason ? { file, skipped: reason } : { file, id: deriveAgentId(file) });
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

/** `weather.ts` → `weather`; `weather/agent.ts` → `weather`; a number in front only sorts the files. */
function deriveAgentId(file: string): string {
  const name = basename(file, extname(file));
  const id = name === "agent" || name === "index" ? basename(dirname(file)) : name;
  return toAgentId(id.replace(/^\d+[-_.]/, ""));
}

/** A name as it can stand in the URL of an agent. */
export function toAgentId(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "") || "agent";
}

function skipDuplicates(found: readonly AgentFileCandidate[]): AgentFileCandidate[] {
  const files = new Set<string>();
  const ids = new Map<string, string>();
  return found
    .filter(({ file }) => !files.has(file) && files.add(file))
    .map((candidate) => {
      if ("skipped" in candidate) return candidate;
      const other = ids.get(candidate.id);
      if (other !== undefined) {
        return {
          file: candidate.file,
          skipped: `has the same name (${candidate.id}) as ${formatPath(other)}`,
        };
      }
      ids.set(candidate.id, candidate.file);
      return candidate;
    });
}

/** A path as people write it. */
export function formatPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith("..") || path === "" ? file : path;
}
