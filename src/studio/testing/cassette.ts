import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { isObject } from "../../protocol/index.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";

/** Options of `openCassette`. */
export interface CassetteOptions {
  /**
   * `replay` throws an error for a request that the file does not contain, `append` sends and records it, and `record`
   * sends and records all requests. Default: `append`, or `replay` if the environment variable `CI` is set.
   */
  readonly mode?: "replay" | "append" | "record";
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

const assertKnownOptions = defineOptionNames<CassetteOptions>()("openCassette", "fetch mode");

/** A recorded response. The headers and the URL of the request can contain secrets, and are not recorded. */
interface CassetteEntry {
  readonly key: string;
  readonly request: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Responses of models, recorded for tests that need no model. */
export interface Cassette {
  /** Pass this function to the client of the model. */
  readonly fetch: typeof fetch;
  /** Answers the next request with an HTTP error, as an overloaded model does. The file does not contain the error. */
  failNext(status?: number): void;
}

/**
 * Opens a file with recorded HTTP responses. A request is the same as a recorded one if its method, path, and body are
 * equal. Equal requests receive their responses in the recorded order. In a replay, the last one is repeated.
 */
export async function openCassette(file: string, options: CassetteOptions = {}): Promise<Cassette> {
  assertKnownOptions(options);
  const { mode = process.env["CI"] ? "replay" : "append" } = options;
  const send = options.fetch ?? fetch;
  const entries = mode === "record" ? [] : await readEntries(file);
  const positions = new Map<string, number>();
  let failure: number | undefined;
  let written: Promise<void> = Promise.resolve();
  const recordOrReplay: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    if (failure !== undefined) {
      const status = failure;
      failure = undefined;
      return Response.json({ error: { message: "The cassette failed this request." } }, { status });
    }
    const body = await request.clone().text();
    const { pathname } = new URL(request.url);
    const key = createHash("sha256")
      .update(`${request.method} ${pathname}\n${body}`)
      .digest("hex")
      .slice(0, 32);
    const known = entries.filter((entry) => entry.key === key);
    const position = positions.get(key) ?? 0;
    positions.set(key, position + 1);
    const entry = known[position] ?? (mode === "replay" ? known.at(-1) : undefined);
    if (entry) return toResponse(entry);
    if (mode === "replay")
      throw new Error(
        `The cassette ${file} contains no response to ${request.method} ${pathname}; run the test with mode: "append".`,
      );
    const response = await send(request);
    const recorded: CassetteEntry = {
      key,
      request: body,
      status: response.status,
      contentType: response.headers.get("content-type") ?? "application/json",
      body: await response.text(),
    };
    if (response.ok) {
      entries.push(recorded);
      // Two writes at the same time would mix their bytes.
      const write = (): Promise<void> => writeFile(file, `${JSON.stringify(entries, null, 2)}\n`);
      await (written = written.then(write, write));
    }
    return toResponse(recorded);
  };
  return {
    fetch: recordOrReplay,
    failNext: (status = 503) => {
      failure = status;
    },
  };
}

function toResponse({ status, contentType, body }: CassetteEntry): Response {
  return new Response(body, { status, headers: { "content-type": contentType } });
}

async function readEntries(file: string): Promise<CassetteEntry[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  const entries: unknown = JSON.parse(text);
  if (Array.isArray(entries) && entries.every(isEntry)) return entries;
  throw new Error(`${file} is no cassette; delete the file to record it again.`);
}

function isEntry(value: unknown): value is CassetteEntry {
  if (!isObject(value) || typeof value["status"] !== "number") return false;
  return ["key", "request", "contentType", "body"].every((name) => typeof value[name] === "string");
}
