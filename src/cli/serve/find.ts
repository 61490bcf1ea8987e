import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { Problem } from "../problem.ts";

/** A file that was looked at: one that may hold an agent, or why it does not. */
export type Candidate = { file: string; id: string } | { file: string; skipped: string };

const EXTENSIONS = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

/**
 * The agent files that `paths` mean: a file itself; in a directory every `name.ts` and every `name/agent.ts` (ADK's
 * layout), or the directory's own `agent.ts` when it has one. What was considered and passed over is in the answer
 * too, with the reason, so that no agent is ever missed in silence.
 */
export async function findAgentFiles(paths: readonly string[]): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const path of paths) {
    const absolute = resolve(path);
    const is = await stat(absolute).catch(() => undefined);
    if (!is) {
      throw new Problem(
        "A2ACLI_ERR_USAGE",
        `${path} does not exist (looked for ${absolute}).`,
        "Give the file of an agent, or a directory with agents in it.",
      );
    }
    if (is.isDirectory()) found.push(...(await searchDirectory(absolute)));
    else found.push({ file: absolute, id: idOf(absolute) });
  }
  return withoutDuplicates(found);
}

async function searchDirectory(directory: string): Promise<Candidate[]> {
  const own = await agentFileIn(directory);
  if (own) return [{ file: own, id: idOf(own) }];
  const found: Candidate[] = [];
  const entries = await readdir(directory, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = join(directory, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    if (entry.isDirectory()) {
      const inside = await agentFileIn(file);
      found.push(inside ? { file: inside, id: idOf(inside) } : { file, skipped: "has no agent.ts" });
    } else if (EXTENSIONS.includes(extname(entry.name))) {
      const reason = reasonToSkip(entry.name);
      found.push(reason ? { file, skipped: reason } : { file, id: idOf(file) });
    }
  }
  return found;
}

async function agentFileIn(directory: string): Promise<string | undefined> {
  const entries = new Set(await readdir(directory));
  const name = EXTENSIONS.map((extension) => `agent${extension}`).find((candidate) => entries.has(candidate));
  return name && join(directory, name);
}

function reasonToSkip(name: string): string | undefined {
  if (/\.d\.[mc]?ts$/.test(name)) return "only declares types";
  if (/\.(test|spec)\.[^.]+$/.test(name)) return "is a test";
  if (/\.config\.[^.]+$/.test(name)) return "is a configuration";
  return undefined;
}

/** `weather.ts` → `weather`; `weather/agent.ts` → `weather`; a number in front only sorts the files. */
function idOf(file: string): string {
  const name = basename(file, extname(file));
  const id = name === "agent" || name === "index" ? basename(dirname(file)) : name;
  return toId(id.replace(/^\d+[-_.]/, ""));
}

/** A name as it can stand in the URL of an agent. */
export function toId(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "") || "agent";
}

function withoutDuplicates(found: readonly Candidate[]): Candidate[] {
  const files = new Set<string>();
  const ids = new Map<string, string>();
  return found
    .filter(({ file }) => !files.has(file) && files.add(file))
    .map((candidate) => {
      if ("skipped" in candidate) return candidate;
      const other = ids.get(candidate.id);
      if (other !== undefined) {
        return { file: candidate.file, skipped: `has the same name (${candidate.id}) as ${shown(other)}` };
      }
      ids.set(candidate.id, candidate.file);
      return candidate;
    });
}

/** A path as people write it. */
export function shown(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith("..") || path === "" ? file : path;
}
