import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Agent } from "../../engine/index.ts";
import type { ReloadableModules } from "./reloadable-modules.ts";
import type { SyntaxGate } from "./syntax-gate.ts";

/** The agents of a file by id, or the reason why the file has no agent. */
export type LoadedAgentFile =
  | { readonly agents: Readonly<Record<string, Agent>> }
  | { readonly reason: string; readonly error?: unknown };

/** The files that may contain agents. */
export interface AgentFileSource {
  /** Finds the agent files, and the other paths whose change may add or remove an agent file. */
  findFiles(): Promise<{ readonly files: readonly string[]; readonly otherPaths: readonly string[] }>;
  loadFile(file: string): Promise<LoadedAgentFile>;
}

/** Result of loading the agents, for the output of the command. */
export interface AgentReloadReport {
  /** All agents by id. A file that could not be loaded contributes its earlier agents. */
  readonly agents: Readonly<Record<string, Agent>>;
  /** Ids of the agents that were loaded again. */
  readonly reloaded: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /**
   * The new id of an agent: exactly one id is gone, exactly one is new, and both belong to the same file, or to files with
   * the same content.
   */
  readonly renamed?: { readonly from: string; readonly to: string };
  readonly failures: readonly AgentFileFailure[];
}

export interface AgentFileFailure {
  readonly file: string;
  readonly reason: string;
  readonly error?: unknown;
  /** Ids of the agents of an earlier version of the file, which are still part of `agents`. */
  readonly earlierAgentIds: readonly string[];
  /** True if the failure differs from the previous reload, or if one of the file's imports has changed. */
  readonly isNew: boolean;
}

interface KnownFile {
  readonly agents: Readonly<Record<string, Agent>>;
  /** Digest of the content with which the agents were loaded. */
  readonly digest?: string | undefined;
  readonly failure?: Pick<AgentFileFailure, "reason" | "error" | "isNew">;
}

type ReloaderModules = Pick<
  ReloadableModules,
  "listFiles" | "listImportedFiles" | "invalidateFiles" | "markEvaluated" | "listUnevaluatedFiles"
>;

/** Loads the agents of files, and loads the agents of changed files again. */
export class AgentReloader {
  readonly #source: AgentFileSource;
  readonly #modules: ReloaderModules;
  readonly #syntaxGate: SyntaxGate;
  #knownFiles = new Map<string, KnownFile>();
  #otherPaths: readonly string[] = [];

  constructor(source: AgentFileSource, modules: ReloaderModules, syntaxGate: SyntaxGate) {
    this.#source = source;
    this.#modules = modules;
    this.#syntaxGate = syntaxGate;
  }

  /** Returns the files that may contain agents. */
  listAgentFiles(): string[] {
    return [...this.#knownFiles.keys()];
  }

  /** Returns the paths whose change requires a reload. */
  listWatchedPaths(): string[] {
    return [...new Set([...this.#knownFiles.keys(), ...this.#otherPaths, ...this.#modules.listFiles()])];
  }

  /**
   * Loads new files, files that a change affects, and files that could not be loaded before. The agents of other files
   * stay the same objects. The agents of files that the syntax gate holds stay, too.
   */
  async reload(changed: Iterable<string> = []): Promise<AgentReloadReport> {
    const changedFiles = new Set(changed);
    const admitted = this.#syntaxGate.admitFiles(changedFiles, this.#knownFiles.keys(), (file) =>
      this.#modules.listImportedFiles(file),
    );
    // Files of a failed import are imported again, because Node.js also caches failures.
    const failedFiles = [...this.#knownFiles].flatMap(([file, { failure }]) =>
      failure?.error === undefined || this.#syntaxGate.findError(file)
        ? []
        : [...this.#modules.listUnevaluatedFiles(file)],
    );
    const affected = this.#modules.invalidateFiles([...admitted, ...failedFiles]);
    const earlierIds = listAgentIds(this.#knownFiles);
    const { files, otherPaths } = await this.#source.findFiles();
    this.#otherPaths = otherPaths;
    const known = new Map<string, KnownFile>();
    const reloaded = new Set<string>();
    for (const file of files) {
      const earlier = this.#knownFiles.get(file);
      const syntaxError = this.#syntaxGate.findError(file);
      if (earlier && syntaxError) {
        const { error } = syntaxError;
        const reason = `could not be loaded: ${error.message}`;
        const isNew = earlier.failure?.reason !== reason || changedFiles.has(syntaxError.file);
        known.set(file, { ...earlier, failure: { reason, error, isNew } });
        continue;
      }
      if (earlier && !earlier.failure && !affected.has(file)) {
        known.set(file, earlier);
        continue;
      }
      const loaded = refuseRepeatedIds(await this.#source.loadFile(file), listAgentIds(known));
      if ("agents" in loaded || loaded.error === undefined) this.#modules.markEvaluated(file);
      if ("agents" in loaded) {
        for (const id of Object.keys(loaded.agents)) reloaded.add(id);
        known.set(file, { ...loaded, digest: await computeDigest(file) });
        continue;
      }
      const isNew =
        earlier?.failure?.reason !== loaded.reason ||
        [file, ...this.#modules.listImportedFiles(file)].some((one) => changedFiles.has(one));
      known.set(file, { agents: {}, ...earlier, failure: { ...loaded, isNew } });
    }
    const report = createReport(known, earlierIds, reloaded);
    const renamed = findRename(report, (id) => {
      const file = listAgentIds(known).get(id) ?? earlierIds.get(id);
      return { file, digest: (known.get(file ?? "") ?? this.#knownFiles.get(file ?? ""))?.digest };
    });
    this.#knownFiles = known;
    return renamed ? { ...report, renamed } : report;
  }
}

function createReport(
  known: ReadonlyMap<string, KnownFile>,
  earlierIds: ReadonlyMap<string, string>,
  reloaded: ReadonlySet<string>,
): AgentReloadReport {
  const ids = listAgentIds(known);
  return {
    agents: Object.assign({}, ...[...known.values()].map(({ agents }) => agents)) as Record<string, Agent>,
    reloaded: [...reloaded].filter((id) => earlierIds.has(id)),
    added: [...ids.keys()].filter((id) => !earlierIds.has(id)),
    removed: [...earlierIds.keys()].filter((id) => !ids.has(id)),
    failures: [...known].flatMap(([file, { failure, agents }]) =>
      failure ? [{ file, ...failure, earlierAgentIds: Object.keys(agents) }] : [],
    ),
  };
}

function findRename(
  { added, removed }: AgentReloadReport,
  findOrigin: (id: string) => { readonly file: string | undefined; readonly digest: string | undefined },
): AgentReloadReport["renamed"] {
  const [from, ...otherRemoved] = removed;
  const [to, ...otherAdded] = added;
  if (from === undefined || to === undefined || otherRemoved.length + otherAdded.length > 0) return undefined;
  const [old, current] = [findOrigin(from), findOrigin(to)];
  const hasSameContent = old.digest !== undefined && old.digest === current.digest;
  return old.file === current.file || hasSameContent ? { from, to } : undefined;
}

/** Returns a digest of a file, or `undefined` for a folder, and for a file that is gone meanwhile. */
async function computeDigest(file: string): Promise<string | undefined> {
  try {
    return createHash("sha256")
      .update(await readFile(file))
      .digest("base64");
  } catch {
    return undefined;
  }
}

/** Returns the files of all agents by agent id. */
function listAgentIds(known: ReadonlyMap<string, KnownFile>): Map<string, string> {
  return new Map(
    [...known].flatMap(([file, { agents }]) => Object.keys(agents).map((id) => [id, file] as const)),
  );
}

/** Refuses a file with the id of another file's agent. */
function refuseRepeatedIds(loaded: LoadedAgentFile, fileById: ReadonlyMap<string, string>): LoadedAgentFile {
  if (!("agents" in loaded)) return loaded;
  const id = Object.keys(loaded.agents).find((one) => fileById.has(one));
  if (id === undefined) return loaded;
  return { reason: `has the same id (${id}) as ${fileById.get(id)}; give one agent another name` };
}
