import type { EvidenceKind } from "../../cards/index.ts";
import { A2AError, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { ModelReply, ModelRequest, RoleModel } from "../role-model.ts";

/** One call of a model, as it was. */
export interface CassetteEntry {
  /** Of the request: SHA-256 over all that the model was told, in hexadecimal. */
  readonly key: string;
  /** The `id` of the model. */
  readonly model: string;
  /** What it was told, for people who look into the cassette. */
  readonly request: JsonObject;
  readonly reply: ModelReply;
}

/** Where takes are kept. `openCassetteFile` in `colloquy/cards` is one; a `Map` behind two functions another. */
export interface CassetteStore {
  get(key: string): CassetteEntry | undefined | Promise<CassetteEntry | undefined>;
  /** Resolves when the take is safe. */
  put(entry: CassetteEntry): void | Promise<void>;
}

export interface CassetteModelOptions {
  /** The model that is recorded. Needed but for `replay`. */
  readonly inner?: RoleModel;
  /** The `id` of the model that was recorded, where there is no `inner`. */
  readonly id?: string;
  /**
   * `record`: always asks, and keeps the answer. `replay`: never asks; what is not there is an error. `auto`, the default:
   * asks for what is not there.
   */
  readonly mode?: "record" | "replay" | "auto";
}

/**
 * A model whose answers are kept, so that a run that was paid for once can be had again without the model. Equal requests
 * have one take; samples of an answerer have one each.
 */
export function createCassetteModel(store: CassetteStore, options: CassetteModelOptions): RoleModel {
  const { inner, mode = "auto" } = options;
  const id = options.id ?? inner?.id;
  if (id === undefined)
    throw new A2AError(
      "INVALID_PARAMS",
      "A cassette without a model needs the id of the one that was recorded.",
    );
  if (!inner && mode !== "replay")
    throw new A2AError("INVALID_PARAMS", `A cassette in mode ${mode} needs a model to ask: inner.`);

  return {
    id,
    evidenceKind: resolveCassetteEvidence(inner, mode),
    async complete(request): Promise<ModelReply> {
      request.signal.throwIfAborted();
      const cassetteRequest = toCassetteRequest(id, request);
      const key = await computeSha256(toCanonicalJson(cassetteRequest));
      const entry = mode === "record" ? undefined : await store.get(key);
      if (entry) return entry.reply;
      if (mode === "replay" || !inner) throw createMissingEntryError(key, id, request);
      const reply = await inner.complete(request);
      await store.put({ key, model: id, request: cassetteRequest, reply });
      return reply;
    },
  };
}

/** What was live when it was recorded is not when it is played. */
function resolveCassetteEvidence(inner: RoleModel | undefined, mode: string): EvidenceKind {
  if (inner && (mode === "record" || inner.evidenceKind !== "live-model")) return inner.evidenceKind;
  return "recorded-model";
}

/** All that a reply may hang on. Not `step`: it has ids and times, and `messages` say the same. */
function toCassetteRequest(model: string, request: ModelRequest): JsonObject {
  const { role, messages, schema, maxTokens, temperature, seed, input } = request;
  const cassetteRequest = {
    model,
    role,
    messages: messages.map((message) => ({ ...message })),
    schema,
    max_tokens: maxTokens,
    temperature,
    seed,
    sample: input.kind === "answer" && input.sampleNumber > 1 ? input.sampleNumber : undefined,
  };
  return Object.fromEntries(
    Object.entries(cassetteRequest).filter(
      (entry): entry is [string, Exclude<(typeof entry)[1], undefined>] => entry[1] !== undefined,
    ),
  );
}

/** JSON with the members of every object in the order of their names. */
export function toCanonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${toCanonicalJson(value[name] ?? null)}`);
  return `{${members.join(",")}}`;
}

async function computeSha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function createMissingEntryError(key: string, model: string, { role, messages }: ModelRequest): A2AError {
  const last = messages.findLast((message) => message.role === "user")?.text ?? "";
  return new A2AError(
    "INTERNAL",
    `The cassette has no take ${key} of ${model} for the ${role}, that was told ${JSON.stringify(last.slice(0, 80))}; ` +
      "record it with mode auto, or use the prompts and options that it was recorded with.",
  );
}
