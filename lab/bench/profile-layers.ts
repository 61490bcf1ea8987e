import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A CPU profile of V8. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    /** `lineNumber` starts at 0. */
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  /** Time of the first sample in microseconds of the monotonic clock. */
  readonly startTime: number;
  readonly samples: readonly number[];
  /** Time in microseconds between a sample and its predecessor. */
  readonly timeDeltas: readonly number[];
}

/**
 * Returns the share of each layer in the CPU time of a part of a profile. A layer is a room of the build in `root`, the
 * JavaScript of Node, native code, or the garbage collector. A function counts without the functions that it calls. Time in
 * which the process waits for the disk does not count.
 */
export function computeLayerShares(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  root: string,
  [from, to]: readonly [fromMicros: number, toMicros: number],
  readScript: (url: string) => string = (url) => readFileSync(fileURLToPath(url), "utf8"),
): Record<string, number> {
  const findRoom = createRoomFinder(readScript);
  const dist = pathToFileURL(`${root}/dist/`).href.replace(/\/+dist\/$/, "/dist/");
  const layersById = new Map(nodes.map(({ id, callFrame }) => [id, findLayer(callFrame, dist, findRoom)]));
  const times: Record<string, number> = {};
  let total = 0;
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    const delta = timeDeltas[index] ?? 0;
    at += delta;
    const layer = layersById.get(id);
    if (layer === undefined || at < from || at > to) continue;
    times[layer] = (times[layer] ?? 0) + delta;
    total += delta;
  }
  return Object.fromEntries(Object.entries(times).map(([layer, time]) => [layer, time / total]));
}

/** Functions in which the process waits, for requests or for the disk. The profiler measures time, not CPU time. */
const WAITING_FUNCTIONS = new Set(["(idle)", "fdatasync", "fsync"]);

/** Returns the layer of a function, or `undefined` for a function in which the process waits. */
function findLayer(
  { functionName, url, lineNumber }: CpuProfile["nodes"][number]["callFrame"],
  dist: string,
  findRoom: (url: string, lineNumber: number) => string | undefined,
): string | undefined {
  if (WAITING_FUNCTIONS.has(functionName)) return undefined;
  if (functionName === "(garbage collector)") return "garbage collection";
  if (url.startsWith(dist)) return findRoom(url, lineNumber) ?? "packages";
  if (url.startsWith("node:")) return "JavaScript of Node";
  if (url.includes("/node_modules/")) return "packages";
  if (url.includes("/lab/bench/")) return "agent of the benchmark";
  return "native code";
}

/** A script of the build contains several modules. The bundler writes the path of each module into a comment before it. */
function createRoomFinder(
  readScript: (url: string) => string,
): (url: string, lineNumber: number) => string | undefined {
  const roomsByScript = new Map<string, (string | undefined)[]>();
  return (url, lineNumber) => {
    const rooms = roomsByScript.get(url) ?? listRoomsOfLines(readScript(url));
    roomsByScript.set(url, rooms);
    return rooms[lineNumber];
  };
}

function listRoomsOfLines(script: string): (string | undefined)[] {
  let room: string | undefined;
  return script.split("\n").map((line) => {
    const [, source, name] = /^\/\/ (src|node_modules)\/([\w-]+)/.exec(line) ?? [];
    if (source !== undefined) room = source === "src" ? name : undefined;
    return room;
  });
}
