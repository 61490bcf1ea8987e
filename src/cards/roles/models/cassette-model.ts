import { computeSha256Hex } from "../../../base/data-structures/index.ts";
import { defineOptionNames, omitUndefined } from "../../../base/usage-checks/index.ts";
import type { AnswerSourceKind } from "../../index.ts";
import { A2AError, type JsonObject, type JsonValue } from "../../../protocol/index.ts";
import type { ModelReply, ModelRequest, RoleModel } from "../role-model.ts";

/** A model request and its reply, stored in a cassette. */
export interface CassetteEntry {
  /** SHA-256 hash of all request members that can affect the reply, in hexadecimal. */
  readonly key: string;
  /** Identifier (`id`) of the recorded model. */
  readonly model: string;
  /** Human-readable form of the request. */
  readonly request: JsonObject;
  readonly reply: ModelReply;
}

/**
 * Storage for cassette entries, for example a `Map` in memory. `openCassetteFile` of `colloquy/testing`
 * stores cassette entries in a file.
 */
export interface CassetteStore {
  get(key: string): CassetteEntry | undefined | Promise<CassetteEntry | undefined>;
  /** Number of stored entries, if the store knows it. */
  readonly size?: number;
  /** Stores an entry. Resolves when the cassette entry is stored durably. */
  put(entry: CassetteEntry): void | Promise<void>;
}

/** Options for `createCassetteModel`. */
export interface CassetteModelOptions {
  /** Model to record. Required unless `mode` is `replay`. */
  readonly inner?: RoleModel;
  /** Identifier (`id`) of the recorded model. The option `id` is required if `inner` is missing. */
  readonly id?: string;
  /**
   * `record` always calls the model and stores the reply. `replay` never calls the model and throws if a
   * cassette entry is missing. `auto` calls the model only if a cassette entry is missing. Default: `auto`.
   */
  readonly mode?: "record" | "replay" | "auto";
}

const assertKnownOptions = defineOptionNames<CassetteModelOptions>()("createCassetteModel", "id inner mode");

/**
 * Creates a model that records and replays the replies of another model. With a cassette, you can repeat a
 * paid experiment run for free. Equal model requests share one cassette entry. Each sample of an answerer has
 * a separate cassette entry.
 */
export function createCassetteModel(store: CassetteStore, options: CassetteModelOptions): RoleModel {
  assertKnownOptions(options);
  const { inner, mode = "auto" } = options;
  const id = options.id ?? inner?.id;
  if (id === undefined)
    throw new A2AError(
      "INVALID_PARAMS",
      "The cassette has neither inner nor id. Set id to the id of the recorded model.",
    );
  if (!inner && mode !== "replay")
    throw new A2AError("INVALID_PARAMS", `A cassette in mode "${mode}" requires the option inner.`);

  return {
    id,
    evidenceKind: resolveCassetteEvidenceKind(inner, mode, store),
    ...(inner?.server !== undefined && { server: inner.server }),
    async complete(request): Promise<ModelReply> {
      request.signal.throwIfAborted();
      const cassetteRequest = toCassetteRequest(id, request);
      const key = computeSha256Hex(toCanonicalJson(cassetteRequest));
      const entry = mode === "record" ? undefined : await store.get(key);
      if (entry) return entry.reply;
      if (mode === "replay" || !inner) throw createMissingEntryError(key, id, request);
      const reply = await inner.complete(request);
      await store.put({ key, model: id, request: cassetteRequest, reply });
      return reply;
    },
  };
}

/**
 * When a cassette replays the replies of a live model, the type of evidence is `recorded-model`. An empty
 * cassette can replay nothing.
 */
function resolveCassetteEvidenceKind(
  inner: RoleModel | undefined,
  mode: string,
  { size = 1 }: CassetteStore,
): AnswerSourceKind {
  const isReplayed = mode === "replay" || (mode === "auto" && size > 0);
  if (inner && (!isReplayed || inner.evidenceKind !== "live-model")) return inner.evidenceKind;
  return "recorded-model";
}

/**
 * Returns all members of a model request that can affect the reply. The key omits `input`, because `input`
 * contains ids and times, and `messages` contains the same information.
 */
function toCassetteRequest(model: string, request: ModelRequest): JsonObject {
  const { role, messages, schema, maxTokens, temperature, seed, input } = request;
  return omitUndefined({
    model,
    role,
    messages: messages.map((message) => ({ ...message })),
    schema,
    max_tokens: maxTokens,
    temperature,
    seed,
    sample: input.kind === "answer" && input.sampleNumber > 1 ? input.sampleNumber : undefined,
  });
}

/** Encodes a value as JSON with sorted object members. */
export function toCanonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${toCanonicalJson(value[name] ?? null)}`);
  return `{${members.join(",")}}`;
}

function createMissingEntryError(key: string, model: string, { role, messages }: ModelRequest): A2AError {
  const last = messages.findLast((message) => message.role === "user")?.text ?? "";
  return new A2AError(
    "INTERNAL",
    `The cassette has no entry ${key} of ${model} for the ${role}, whose prompt ends with ${JSON.stringify(last.slice(0, 80))}. ` +
      'Record it with mode "auto", or use the prompts and options of the recording.',
  );
}
