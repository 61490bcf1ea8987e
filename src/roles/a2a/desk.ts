import { A2AError } from "../../protocol/index.ts";
import type {
  Card,
  CardCarrier,
  CardMetadata,
  CardUsage,
  ControlCard,
  CoreErrorType,
  ErrorCard,
  QueryCard,
  ResultCard,
  TaskCard,
} from "../../cards/index.ts";
import type { ModelReply, ModelRequest } from "../model.ts";
import type { Answer, Asked, Delegated, Desk, Role } from "../role.ts";
import { answerCard, answerOr, selection } from "./answer.ts";
import type { Correspondence } from "./correspondence.ts";
import { runErrand } from "./errand.ts";
import { defined } from "./defined.ts";
import { errorText } from "./error-text.ts";
import { NOTHING, Spending } from "./spending.ts";
import { graceOf, isTimeout, parametersOf, ServerCloses } from "./stopping.ts";

/** Who gave the work, and is told of it. */
export interface Giver {
  /** Something on the way: a notice. */
  told(card: Card): void;
  /** Rejects with the reason of the desk's signal. */
  ask(query: QueryCard): Promise<ResultCard>;
}

export interface DeskOptions {
  readonly role: Role;
  /** What it is to work on. */
  readonly given: TaskCard | QueryCard;
  readonly cards: Correspondence;
  /** How `given` came; the same for what goes back. */
  readonly carrier: CardCarrier;
  readonly giver: Giver;
}

/** Made once, because making one costs more than the rest of an end. */
const OVER = new DOMException("The work is over.", "AbortError");

/** The model did not answer. */
class ModelFailed extends Error {
  override readonly name = "ModelFailed";
}

/** Where a role works on one card, and from where it replies to it. */
export class RoleDesk implements Desk {
  readonly #options: DeskOptions;
  readonly #spending: Spending;
  readonly #stopped = new AbortController();
  readonly #gaveUp = Promise.withResolvers<never>();
  readonly #controls: ControlCard[] = [];
  #controlled = Promise.withResolvers<void>();
  #asking: Promise<unknown> = Promise.resolve();
  #forget: (() => void) | undefined;
  #wasStopped = false;
  #last: string | undefined;

  constructor(options: DeskOptions) {
    this.#options = options;
    const { clock, newId } = options.cards.office;
    this.#spending = new Spending(() => clock.monotonic(), newId);
    // Nobody may be waiting for them.
    this.#gaveUp.promise.catch(() => {});
    this.#controlled.promise.catch(() => {});
  }

  get task(): TaskCard {
    const { given } = this.#options;
    if (given.message_type === "task") return given;
    throw new Error("There is no task on this desk, but a question; see Role.answer");
  }

  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Somebody stopped it while it was at work. */
  get wasStopped(): boolean {
    return this.#wasStopped;
  }

  /** Has the role work until it has an answer, or until its time is up; the card with which it ends. */
  async work(): Promise<ResultCard | ErrorCard> {
    try {
      return this.#end(await Promise.race([this.#begin(), this.#gaveUp.promise]));
    } catch (error) {
      return this.#end(this.#failure(error));
    } finally {
      this.#forget?.();
      // Whatever is still under way for it is of no use any more.
      this.#stopped.abort(OVER);
    }
  }

  /** Stops the work; a role that does not end by itself within its time is given up. */
  stop(reason: unknown): void {
    if (this.signal.aborted) return;
    const { cards, role } = this.#options;
    const { forItselfMs } = graceOf(cards.office, parametersOf(reason));
    this.#forget = cards.office.clock.after(forItselfMs, () => {
      this.#gaveUp.reject(new Error(`The ${role.name} was stopped and had nothing to say`));
    });
    this.#wasStopped = !(reason instanceof ServerCloses);
    this.#stopped.abort(reason);
    this.#controlled.reject(reason);
  }

  control(card: ControlCard): void {
    this.#controls.push(card);
    this.#controlled.resolve();
  }

  controls(): ControlCard[] {
    if (!this.signal.aborted) {
      this.#controlled = Promise.withResolvers();
      this.#controlled.promise.catch(() => {});
    }
    return this.#controls.splice(0);
  }

  async controlled(): Promise<void> {
    if (this.#controls.length > 0) return;
    const done = this.#spending.wait();
    try {
      await this.#controlled.promise;
    } finally {
      done();
    }
  }

  async think(request: Omit<ModelRequest, "role" | "signal">): Promise<ModelReply> {
    const { role, cards } = this.#options;
    const { model } = cards.office;
    if (!model) throw new Error(`The ${role.name} has no model to think with; give one in "model"`);
    this.signal.throwIfAborted();
    const { clock } = cards.office;
    const began = clock.monotonic();
    const done = this.#spending.think();
    try {
      const reply = await model.complete({ ...request, role: role.name, signal: this.signal });
      done();
      const usage = reply.usage ?? NOTHING;
      this.#spending.add(usage, reply.model ?? model.id);
      this.#called(request, { model: reply.model ?? model.id, usage, finish: reply.finish }, began);
      return reply;
    } catch (error) {
      done();
      const aborted = this.signal.aborted;
      const why = errorText(error);
      const finish = aborted ? "aborted" : "error";
      this.#called(request, { model: model.id, usage: NOTHING, finish, error: why }, began);
      this.signal.throwIfAborted();
      throw new ModelFailed(why, { cause: error });
    }
  }

  async delegate(delegated: Delegated): Promise<ResultCard | ErrorCard> {
    const { to, task, context, turn, forced, attempt, metadata, deadlineMs } = delegated;
    const about = { ...metadata, ...defined({ turn, forced, attempt }), ...this.#replying() };
    this.signal.throwIfAborted();
    const { cards } = this.#options;
    const card = this.#spending.take((spent) => cards.task(to, task, { ...about, ...spent }, context));
    return await this.#send(card, deadlineMs);
  }

  async query({ query, to, options, multiple }: Asked): Promise<ResultCard | ErrorCard> {
    const { cards, given } = this.#options;
    const about: CardMetadata = { ...this.#replying(), ...defined({ multiple }) };
    if (options) about["options"] = [...options];
    this.signal.throwIfAborted();
    const write = (): QueryCard =>
      this.#spending.take((spent) => cards.query(to ?? given.sender, query, { ...about, ...spent }));
    if (to !== undefined && to !== given.sender) return await this.#send(write());
    const asked = this.#asking.then(() => this.#ask(write()));
    this.#asking = asked.catch(() => {});
    return await asked;
  }

  notice({ error, errorType, retryable }: Extract<Answer, { error: string }>): void {
    const { cards, given, carrier, giver } = this.#options;
    const about = { error_type: errorType, ...defined({ retryable }) };
    const card = this.#spending.take((spent) => cards.error(given.sender, error, { ...about, ...spent }));
    cards.sent(card, carrier, false);
    giver.told(card);
  }

  /** The answer to a question of a role that works for this one. */
  async #answer(query: QueryCard): Promise<ResultCard> {
    const { role, cards } = this.#options;
    const given = await answerOr(() => role.answer?.(query, this), cards);
    return this.#spending.take((spent) => answerCard(query, given, cards, spent));
  }

  async #begin(): Promise<Answer> {
    const { role, given } = this.#options;
    if (given.message_type === "task") return await role.work(this);
    const answer = await role.answer?.(given, this);
    if (!answer) return { result: `The ${role.name} has no answer to that`, status: "error" };
    const { result, selected } = answer;
    return { result, status: "success", metadata: selection(selected) };
  }

  async #send(card: TaskCard | QueryCard, deadlineMs?: number): Promise<ResultCard | ErrorCard> {
    const { cards, carrier } = this.#options;
    const done = this.#spending.wait();
    try {
      const reply = await runErrand({
        card,
        cards,
        contextId: carrier.context_id ?? "",
        forTaskId: carrier.task_id,
        signal: this.signal,
        deadlineMs: deadlineMs ?? cards.office.deadlineMs,
        answer: (query) => this.#answer(query),
      });
      this.signal.throwIfAborted();
      return reply;
    } finally {
      done();
    }
  }

  async #ask(card: QueryCard): Promise<ResultCard> {
    const { cards, carrier, giver } = this.#options;
    this.signal.throwIfAborted();
    cards.sent(card, carrier, false);
    const done = this.#spending.wait();
    try {
      const answer = await giver.ask(card);
      cards.received(answer, carrier, false);
      return answer;
    } finally {
      done();
    }
  }

  #end(answer: Answer): ResultCard | ErrorCard {
    const reply = this.#reply(answer);
    // Whatever a call of the model says from now on is on no card; this is the one that should have had it.
    this.#last = reply.metadata.card_id;
    return reply;
  }

  /** The reply to what was given. One that cannot be a card is the role's mistake. */
  #reply(answer: Answer): ResultCard | ErrorCard {
    const { cards, given } = this.#options;
    const about = { ...defined({ turn: given.metadata.turn }), ...this.#replying() };
    const fail = (error: string, error_type: string, retryable: boolean | undefined): ErrorCard =>
      this.#spending.take((spent) =>
        cards.error(given.sender, error, { ...about, error_type, ...defined({ retryable }), ...spent }),
      );
    if ("error" in answer) return fail(answer.error, answer.errorType, answer.retryable);
    try {
      return this.#spending.take((spent) =>
        cards.result(given.sender, answer.result, answer.status, {
          ...about,
          ...answer.metadata,
          ...this.#replying(),
          ...spent,
        }),
      );
    } catch (error) {
      return fail(`The answer is no card: ${errorText(error)}`, "protocol_violation", undefined);
    }
  }

  /** What a role threw, as far as others may know. */
  #failure(thrown: unknown): Answer {
    const { role, cards } = this.#options;
    if (this.signal.aborted) {
      const { reason } = this.signal;
      const timedOut = isTimeout(parametersOf(reason));
      const errorType: CoreErrorType = timedOut ? "timeout" : "cancelled";
      const text = `The ${role.name} was stopped before it had a result`;
      // Its own reason is no card when the server closes: then the same again may succeed.
      return {
        error: text,
        errorType,
        ...(timedOut || reason instanceof ServerCloses ? { retryable: true } : {}),
      };
    }
    if (thrown instanceof ModelFailed) {
      return { error: `The model failed: ${thrown.message}`, errorType: "model_error", retryable: true };
    }
    cards.office.observer.onError?.({ where: role.name, error: thrown });
    const text =
      thrown instanceof A2AError ? errorText(thrown) : `The ${role.name} failed; its log has the cause`;
    return { error: text, errorType: "role_failed" };
  }

  #called(
    { step }: Pick<ModelRequest, "step">,
    call: { model: string; usage: CardUsage; finish: string; error?: string },
    began: number,
  ): void {
    const { cards, given, role } = this.#options;
    const turn = step.kind === "plan" ? step.turn : given.metadata.turn;
    const { recorder, clock } = cards.office;
    recorder?.call({
      run_id: cards.runId,
      ...defined({ sample_id: cards.sampleId, turn }),
      role: role.name,
      card_id: this.#last ?? this.#spending.cardId,
      duration_ms: clock.monotonic() - began,
      ...call,
    });
  }

  /** What every card says that comes of the one that was given. */
  #replying(): CardMetadata {
    const { card_id: in_reply_to } = this.#options.given.metadata;
    return defined({ in_reply_to });
  }
}
