import { omitUndefined } from "../../base/usage-checks/index.ts";
import type {
  ModelLine,
  RequestLine,
  RunEndLine,
  RunIds,
  RunLine,
  ScoreLine,
  SkipLine,
  TrafficLine,
} from "../../observe/trace/index.ts";
import {
  type CardTokenUsage,
  type MessageCard,
  parseCardTime,
  toDict,
  parseCard,
} from "../message-card/index.ts";
import { isObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { CARD_TYPE_KEY, MESSAGE_CARD_MEDIA_TYPE, MESSAGE_CARD_METADATA_KEY } from "../a2a/index.ts";

/** A message card of a recording with its times in milliseconds since 1970. */
export interface RecordedCard {
  readonly card: MessageCard;
  /** Time at which the sender created the card, which is never later than the first line with the card. */
  readonly sentMs: number;
  /** Time at which the reply was received, which equals `sentMs` for requests. */
  readonly arrivedMs: number;
  /** A2A operation of the request that carried the card, or of the request to which the card replies. */
  readonly operation?: string;
  readonly taskId?: string;
  readonly contextId?: string;
}

/** A call to a language model. Exactly one message card reports the token usage of each model call. */
export interface RecordedCall {
  readonly sampleId: string | undefined;
  readonly role: string;
  readonly turn: number | undefined;
  /** `card_id` of the message card whose token usage includes this model call. */
  readonly cardId: string;
  readonly usage: CardTokenUsage;
  /** The recorded line with the prompt and the reply. */
  readonly line: ModelLine;
}

/** A problem of a recording with its message cards, model calls, and score. */
export interface RecordedSample {
  /** ID of the problem, or `undefined` for message cards and model calls that belong to no problem. */
  readonly id: string | undefined;
  /** Message cards of the problem without duplicates, in the order they were sent. */
  readonly cards: readonly MessageCard[];
  /** The same message cards with their times. */
  readonly timedCards: readonly RecordedCard[];
  readonly calls: readonly RecordedCall[];
  /** Score of the problem, or `undefined` if the problem is not finished. */
  readonly score: ScoreLine | undefined;
  /** Reason why the run skipped the problem, or `undefined` if the run did not skip the problem. */
  readonly skip: SkipLine | undefined;
  /** Number of changes of the problem. */
  readonly version: number;
}

/** A line of a record file that could not be decoded. */
export interface TornLine {
  readonly file: string;
  /** Number of the torn line in the file, starting at 1. */
  readonly line: number;
  /**
   * Whether the torn line is the last line that its process wrote, as happens when the process is killed. If
   * a torn line is not the last line of its process, the file is damaged.
   */
  readonly last: boolean;
  readonly why: string;
}

/**
 * The message cards, model calls, and scores of an experiment run. All statistics and views are computed from
 * recordings.
 */
export interface Recording {
  /** ID of the run, or `undefined` for message cards of no run. */
  readonly runId: string | undefined;
  /** The latest run line. `run` is missing in the record of a single role and in a list of message cards. */
  readonly run: RunLine | undefined;
  /** All problems in the order of the run line, followed by recorded problems that the run line does not list. */
  readonly samples: readonly RecordedSample[];
  /** All message cards without duplicates, in the order they were sent. */
  readonly cards: readonly MessageCard[];
  readonly calls: readonly RecordedCall[];
  readonly scores: readonly ScoreLine[];
  readonly skips: readonly SkipLine[];
  readonly ends: readonly RunEndLine[];
  /**
   * Message cards and calls of interrupted attempts. The problems of these attempts were started again later.
   * Statistics exclude abandoned attempts, although their model calls consumed tokens.
   */
  readonly abandoned: { readonly cards: readonly MessageCard[]; readonly calls: readonly RecordedCall[] };
  /** IDs of the scored and skipped problems, which a resumed run does not repeat. */
  readonly finishedSampleIds: ReadonlySet<string>;
  /** Unreadable lines. A killed writer leaves at most one, which is its last line. */
  readonly torn: readonly TornLine[];
}

/** Computes a recording from the lines of a traffic record, also of a record that still grows. */
export class RecordingBuilder implements Recording {
  run: RunLine | undefined;
  readonly ends: RunEndLine[] = [];
  torn: readonly TornLine[] = [];
  readonly abandoned: { readonly cards: MessageCard[]; readonly calls: RecordedCall[] } = {
    cards: [],
    calls: [],
  };
  readonly #samples = new Map<string | undefined, MutableSample>();
  readonly #requests = new Map<string, RequestLine>();
  readonly #abandonedCardIds = new Set<string>();
  /** Problem of each message card, by its ID. A card of another agent may lack the ID of the problem. */
  readonly #sampleIdsByCard = new Map<string, string | undefined>();
  /** IDs of the other runs in the same record. */
  readonly otherRunIds: Set<string> = new Set();
  #runId: string | undefined;
  #attempt = 0;
  #lastLineTimeMs = 0;
  #hasEnded = false;

  /** With `runId`, the recording contains only this run of the record, and otherwise the first run. */
  constructor(runId?: string) {
    this.#runId = runId;
  }

  get runId(): string | undefined {
    return this.#runId;
  }

  get samples(): readonly RecordedSample[] {
    return [...this.#samples.values()];
  }

  get cards(): MessageCard[] {
    return [...this.#samples.values()]
      .flatMap(({ timedCards }) => timedCards)
      .toSorted((a, b) => a.sentMs - b.sentMs)
      .map(({ card }) => card);
  }

  get calls(): RecordedCall[] {
    return [...this.#samples.values()].flatMap(({ calls }) => calls);
  }

  get scores(): ScoreLine[] {
    return [...this.#samples.values()].flatMap(({ score }) => score ?? []);
  }

  get skips(): SkipLine[] {
    return [...this.#samples.values()].flatMap(({ skip }) => skip ?? []);
  }

  get finishedSampleIds(): Set<string> {
    return new Set(
      [...this.#samples.values()].flatMap(({ id, score, skip }) => (score || skip ? (id ?? []) : [])),
    );
  }

  /** Status of the run's end line, or `undefined` if the run has not ended. */
  get endStatus(): RunEndLine["status"] | undefined {
    return this.#hasEnded ? this.ends.at(-1)?.status : undefined;
  }

  /** Time of the latest line in milliseconds since 1970. */
  get lastLineTimeMs(): number {
    return this.#lastLineTimeMs;
  }

  findSample(id: string | undefined): RecordedSample | undefined {
    return this.#samples.get(id);
  }

  /** Adds a line. Lines must be added in the order of their times. */
  add(line: TrafficLine): void {
    if ("run_id" in line && line.run_id !== undefined && !this.#isOfThisRun(line.run_id)) return;
    this.#lastLineTimeMs = Math.max(this.#lastLineTimeMs, Date.parse(line.at));
    if (line.kind === "run") this.#startAttempt(line);
    else if (line.kind === "end") {
      this.ends.push(line);
      this.#hasEnded = true;
    } else if (line.kind === "score" || line.kind === "skip") this.#finishSample(line);
    else if (line.kind === "model") this.#addCall(line);
    else this.#addCards(line);
  }

  /** Adds a message card that was sent at a time in milliseconds since 1970. */
  addCard(
    card: MessageCard,
    sentMs: number,
    details: Omit<RecordedCard, "card" | "sentMs"> = { arrivedMs: sentMs },
    { run_id, sample_id }: RunIds = card.metadata,
  ): void {
    const { card_id, in_reply_to } = card.metadata;
    const isReplyOfRun = this.#sampleIdsByCard.has(in_reply_to ?? "");
    // A message of another client, such as a health check, belongs to no run.
    if (run_id === undefined ? this.run && !isReplyOfRun : !this.#isOfThisRun(run_id)) return;
    const sampleId = sample_id ?? this.#sampleIdsByCard.get(in_reply_to ?? "");
    if (card_id !== undefined) {
      if (this.#abandonedCardIds.has(card_id)) return;
      this.#sampleIdsByCard.set(card_id, sampleId);
    }
    const sample = this.#getSampleOfAttempt(sampleId);
    if (!sample || (in_reply_to !== undefined && this.#abandonedCardIds.has(in_reply_to))) {
      if (card_id !== undefined) this.#abandonedCardIds.add(card_id);
      this.abandoned.cards.push(card);
      return;
    }
    sample.addCard({ ...details, card, sentMs });
  }

  #addCards(line: TrafficLine): void {
    if (line.kind === "request") this.#requests.set(`${line.writer}/${line.call}`, line);
    const request = "call" in line ? this.#requests.get(`${line.writer}/${line.call}`) : undefined;
    if ((line.kind === "response" && !line.is_stream) || line.kind === "stream-end")
      this.#requests.delete(`${line.writer}/${line.call}`);
    const cards = findLineCards(line);
    if (cards.length === 0) return;
    const lineMs = Date.parse(line.at);
    const { task_id, context_id }: { task_id?: string; context_id?: string } = { ...request, ...line };
    for (const card of cards) {
      const ids = line.kind === "card" ? { ...card.metadata, ...line } : card.metadata;
      const sentMs = Math.min(parseCardTime(card) || lineMs, lineMs);
      const details = {
        arrivedMs: line.kind === "request" || line.kind === "card" ? sentMs : lineMs,
        ...omitUndefined({ operation: request?.operation, taskId: task_id, contextId: context_id }),
      };
      this.addCard(card, sentMs, details, ids);
    }
  }

  #startAttempt(run: RunLine): void {
    this.run = run;
    this.#attempt += 1;
    this.#hasEnded = false;
    for (const id of run.sample_ids) this.#getSample(id);
  }

  #finishSample(line: ScoreLine | SkipLine): void {
    const sample = this.#getSample(line.sample_id);
    if (sample.score ?? sample.skip) return;
    if (line.kind === "score") sample.score = line;
    else sample.skip = line;
    sample.version += 1;
  }

  #isOfThisRun(runId: string): boolean {
    this.#runId ??= runId;
    if (runId !== this.#runId) this.otherRunIds.add(runId);
    return runId === this.#runId;
  }

  #addCall(line: ModelLine): void {
    const cardId = line.message_id ?? "";
    const call: RecordedCall = {
      sampleId: line.sample_id ?? this.#sampleIdsByCard.get(cardId),
      role: line.agent ?? "",
      turn: line.turn,
      cardId,
      usage: getModelLineUsage(line),
      line,
    };
    const sample = this.#getSampleOfAttempt(call.sampleId);
    if (!sample || this.#abandonedCardIds.has(cardId)) {
      this.abandoned.calls.push(call);
      return;
    }
    sample.calls.push(call);
    sample.version += 1;
  }

  #getSample(id: string | undefined): MutableSample {
    const known = this.#samples.get(id);
    if (known) return known;
    const created = new MutableSample(id, this.#attempt);
    this.#samples.set(id, created);
    return created;
  }

  /**
   * Returns a problem for a line of the current attempt, or `undefined` if an earlier attempt finished the problem. A
   * resumed run starts interrupted problems again, so that their earlier cards and calls are abandoned.
   */
  #getSampleOfAttempt(id: string | undefined): MutableSample | undefined {
    const sample = this.#getSample(id);
    if (id === undefined || sample.attempt === this.#attempt) return sample;
    if (sample.score ?? sample.skip) return undefined;
    for (const { card } of sample.timedCards) {
      this.abandoned.cards.push(card);
      if (card.metadata.card_id !== undefined) this.#abandonedCardIds.add(card.metadata.card_id);
    }
    this.abandoned.calls.push(...sample.calls);
    sample.restart(this.#attempt);
    return sample;
  }
}

class MutableSample implements RecordedSample {
  readonly id: string | undefined;
  attempt: number;
  timedCards: RecordedCard[] = [];
  calls: RecordedCall[] = [];
  score: ScoreLine | undefined;
  skip: SkipLine | undefined;
  version = 0;
  readonly #cardsByKey = new Map<string, RecordedCard>();

  constructor(id: string | undefined, attempt: number) {
    this.id = id;
    this.attempt = attempt;
  }

  get cards(): readonly MessageCard[] {
    return this.timedCards.map(({ card }) => card);
  }

  /** Adds a card after the earlier cards. A known card keeps its first times. */
  addCard(recorded: RecordedCard): void {
    const { card } = recorded;
    const key = card.metadata.card_id ?? JSON.stringify(toDict(card));
    if (this.#cardsByKey.has(key)) return;
    // The clocks of two machines differ, but no reply is earlier than its request.
    const request = this.#cardsByKey.get(card.metadata.in_reply_to ?? "");
    const sentMs = Math.max(recorded.sentMs, request?.sentMs ?? 0);
    const timed = { ...recorded, sentMs, arrivedMs: Math.max(sentMs, recorded.arrivedMs) };
    this.#cardsByKey.set(key, timed);
    let place = this.timedCards.length;
    while (place > 0 && (this.timedCards[place - 1]?.sentMs ?? 0) > sentMs) place -= 1;
    this.timedCards.splice(place, 0, timed);
    this.version += 1;
  }

  restart(attempt: number): void {
    this.attempt = attempt;
    this.timedCards = [];
    this.calls = [];
    this.#cardsByKey.clear();
    this.version += 1;
  }
}

/** Returns the tokens of a model call. A call without token counts, such as a failed call, has the source `none`. */
function getModelLineUsage(line: ModelLine): CardTokenUsage {
  const { input_tokens, output_tokens, cached_input_tokens, reasoning_output_tokens, tokens_estimated } =
    line;
  if (input_tokens === undefined && output_tokens === undefined)
    return { input_tokens: 0, output_tokens: 0, source: "none" };
  return {
    input_tokens: input_tokens ?? 0,
    output_tokens: output_tokens ?? 0,
    ...omitUndefined({ cached_input_tokens, reasoning_output_tokens }),
    source: tokens_estimated ? "estimated" : "reported",
  };
}

/**
 * Returns the message cards in the messages of a traffic line, for all bindings and protocol versions. Invalid message
 * cards are skipped, because any client can send them.
 */
export function findLineCards(line: TrafficLine): MessageCard[] {
  return listCardJson(line).flatMap((json) => {
    try {
      return [parseCard(json)];
    } catch {
      return [];
    }
  });
}

/** Returns the JSON of the message cards in the messages of a traffic line. */
export function listCardJson(line: TrafficLine): JsonValue[] {
  if (line.kind === "card") return [line.card];
  if (line.kind === "request" || line.kind === "response") return findCardsInJson(line.body);
  return line.kind === "event" || line.kind === "frame" ? findCardsInJson(line.event) : [];
}

function findCardsInJson(json: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(json)) return json.flatMap(findCardsInJson);
  if (!isObject(json)) return [];
  if (isCardPart(json)) return [json["data"] ?? null];
  return Object.entries(json).flatMap(([name, value]) =>
    // The metadata of a request to cancel a task contains a message card.
    name === MESSAGE_CARD_METADATA_KEY ? [value] : findCardsInJson(value),
  );
}

function isCardPart({ data, mediaType, metadata }: JsonObject): boolean {
  if (!isObject(data)) return false;
  return (
    mediaType === MESSAGE_CARD_MEDIA_TYPE ||
    (isObject(metadata) && Object.hasOwn(metadata, CARD_TYPE_KEY)) ||
    // A2A 0.3 over HTTP+JSON marks no part. The members identify a message card.
    CARD_MEMBERS.every((name) => Object.hasOwn(data, name))
  );
}

const CARD_MEMBERS = ["sender", "recipient", "message_type", "content", "timestamp"] as const;
