import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** The part of Miniflare that the tests use. Miniflare is only in the manifest of this folder. */
interface MiniflareModule {
  readonly Miniflare: new (options: object) => RunningMiniflare;
}

/** A running workerd. */
export interface RunningMiniflare {
  readonly ready: Promise<URL>;
  /** Kills workerd with SIGKILL. */
  dispose(): Promise<void>;
}

export interface WorkerOptions {
  /** Whether the worker has the modules of Node.js (`nodejs_compat`). */
  readonly usesNode?: boolean;
  /** The class of the worker's Durable Objects, and the name of their binding. */
  readonly durableObject?: { readonly binding: string; readonly className: string };
  /** Folder of the storage of the objects. By default, the storage ends with workerd. */
  readonly storageFolder?: string;
  /** Whether workerd prints nothing, because errors are part of the test. */
  readonly isSilent?: boolean;
}

/** Starts a worker in workerd. `folder` is a folder that `installManifest` has filled. */
export function startWorker(
  folder: string,
  script: string,
  { usesNode = false, durableObject, storageFolder, isSilent = false }: WorkerOptions = {},
): RunningMiniflare {
  const require = createRequire(join(folder, "package.json"));
  const { Miniflare } = require("miniflare") as MiniflareModule;
  return new Miniflare({
    modules: true,
    script,
    compatibilityDate: "2026-07-01",
    compatibilityFlags: usesNode ? ["nodejs_compat"] : [],
    ...(durableObject
      ? {
          durableObjects: {
            [durableObject.binding]: { className: durableObject.className, useSQLite: true },
          },
        }
      : {}),
    ...(storageFolder === undefined ? {} : { durableObjectsPersist: storageFolder }),
    ...(isSilent ? { handleRuntimeStdio: discardOutput } : {}),
  });
}

function discardOutput(stdout: Readable, stderr: Readable): void {
  stdout.resume();
  stderr.resume();
}

export function readWorkerdVersion(folder: string): string {
  const text = readFileSync(join(folder, "node_modules/workerd/package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
