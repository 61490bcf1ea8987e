import {
  A2AError,
  isInterrupted,
  isTerminal,
  type Message,
  type SendMessageRequest,
} from "../protocol/index.ts";
import { Deferred } from "../base/index.ts";
import { toReply } from "./agent-event.ts";
import type { Agent, AgentEvent } from "./agent.ts";
import type { Caller, Scope } from "./caller.ts";
import { callerOf, type KeptTurn } from "./kept-turn.ts";
import type { NewId } from "./new-id.ts";
import { Desks, type Desk } from "./desks.ts";
import { Places, tooMany, type EngineLimits } from "./limits.ts";
import { OtherTasks } from "./other-tasks.ts";
import { refusesMessages, type Runner } from "./runner.ts";
import type { Runners } from "./runners.ts";
import { isSameMessage } from "./same-message.ts";
import type { ServiceParameters } from "./service.ts";
import type { TaskStore } from "./store.ts";
import { Turn, type Speech } from "./turn.ts";

/**
 * What became of a message: a turn of a task; no turn, because it came again when its own was long over, or the agent at
 * work took it (the runner is held, and to be let go); or a plain reply.
 */
export type Accepted =
  | { readonly runner: Runner; readonly turn: Turn }
  | { readonly runner: Runner; readonly seq: number }
  | { readonly reply: Message };

/** What the inbox works with. */
export interface InboxContext {
  readonly agent: Agent;
  readonly store: TaskStore;
  readonly runners: Runners;
  readonly newId: NewId;
  readonly limits: EngineLimits;
  readonly deduplicate: boolean;
}

/** A message on its way in. */
interface Letter {
  readonly scope: Scope;
  readonly request: SendMessageRequest;
  readonly caller: Caller;
  readonly service: ServiceParameters;
  readonly desk: Desk<InFlight>;
}

/** A message that is not durable yet. */
interface InFlight {
  readonly message: Message;
  readonly accepted: Promise<Accepted>;
}

/** Takes messages in: finds or begins their task, and lets each message of a caller count only once (E10). */
export class Inbox {
  readonly #context: InboxContext;
  readonly #runs: Places;
  readonly #desks: Desks<InFlight>;

  constructor(context: InboxContext) {
    this.#context = context;
    this.#runs = new Places("agents at work", context.limits.runs);
    this.#desks = new Desks(context.limits);
  }

  /** `scope`: that of the caller. */
  async accept(
    scope: Scope,
    { request, caller, service }: Pick<Letter, "request" | "caller" | "service">,
  ): Promise<Accepted> {
    const letter = { scope, request, caller, service, desk: this.#desks.of(scope) };
    if (!this.#context.deduplicate) return await this.#route(letter);
    const { inFlight } = letter.desk;
    const { message } = letter.request;
    const earlier = inFlight.get(message.messageId);
    if (earlier) {
      if (!isSameMessage(message, earlier.message)) throw messageIdTaken(message);
      const accepted = await earlier.accepted;
      if ("seq" in accepted) accepted.runner.hold();
      return accepted;
    }
    const accepting = this.#lookUp(letter);
    const entry = { message, accepted: accepting };
    inFlight.add(message.messageId, entry);
    const forget = (): void => inFlight.remove(message.messageId, entry);
    try {
      const accepted = await accepting;
      if ("turn" in accepted) void accepted.turn.accepted.promise.then(forget, forget);
      else forget();
      return accepted;
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** A turn that an earlier process began; throws when there is no place for it. `message`: with its task's ids. */
  again(scope: Scope, kept: KeptTurn, message: Message): Turn {
    const caller = callerOf(scope, kept);
    const request = { ...kept.request, message };
    // Its task is there, whatever the agent says first this time.
    const service = { ...kept.service, needsTask: true };
    const letter = { scope, request, caller, service, desk: this.#desks.of(scope) };
    return this.#turn(letter, message, kept.attempt + 1);
  }

  async #lookUp(letter: Letter): Promise<Accepted> {
    const { scope, request } = letter;
    const known = await this.#context.store.findMessage(scope, request.message.messageId);
    return known ? await this.#repeat(scope, request.message, known) : await this.#route(letter);
  }

  #route(letter: Letter): Accepted | Promise<Accepted> {
    const { taskId } = letter.request.message;
    return taskId ? this.#continue(letter, taskId) : this.#begin(letter);
  }

  /** A message that was accepted before. */
  async #repeat(scope: Scope, message: Message, known: { taskId: string; seq: number }): Promise<Accepted> {
    const { store, runners } = this.#context;
    const [logged] = await store.read(scope, known.taskId, known.seq - 1, { events: 1, maxBytes: 1 });
    const first = logged && messageIn(logged.event);
    if (!first || !isSameMessage(message, first)) throw messageIdTaken(message);
    const runner = await runners.find(scope, known.taskId);
    if (!runner) throw A2AError.taskNotFound(known.taskId);
    const { turn } = runner;
    if (turn?.found?.seq !== known.seq) return { runner, seq: known.seq };
    runner.letGo();
    return { runner, turn };
  }

  async #continue(letter: Letter, taskId: string): Promise<Accepted> {
    const { scope, request } = letter;
    const runner = await this.#context.runners.find(scope, taskId);
    if (!runner) throw A2AError.taskNotFound(taskId);
    try {
      const { contextId } = runner.live;
      this.#mayBeFor(runner, request.message);
      if (isAtWork(runner)) {
        const delivered = new Deferred<number>();
        const message = { ...request.message, taskId, contextId };
        if (runner.deliver(message, letter.caller, delivered)) {
          const seq = await delivered.promise;
          return { runner: runner.hold(), seq };
        }
        this.#mayInterrupt(runner);
      }
      this.#mayQueue(runner);
      const turn = this.#turn(letter, { ...request.message, taskId, contextId });
      runner.take(turn);
      return { runner, turn };
    } finally {
      runner.letGo();
    }
  }

  /** Throws when a message may not go to that task. */
  #mayBeFor({ live }: Runner, message: Message): void {
    const { taskId, state } = live;
    if (message.contextId && message.contextId !== live.contextId) {
      const description = `task ${taskId} is in another context; leave contextId out, or give the task's own`;
      throw A2AError.invalidParams([{ field: "message.contextId", description }]);
    }
    if (!state || isTerminal(state)) throw refusesMessages(taskId, state);
  }

  /** Throws when the agent takes no message while it is at work. */
  #mayInterrupt({ live: { taskId } }: Runner): void {
    if (this.#context.agent.whileWorking === "queue") return;
    const text = `Task ${taskId} is at work and takes no message meanwhile; wait until it stops, or cancel it.`;
    throw new A2AError("UNSUPPORTED_OPERATION", text, { metadata: { taskId } });
  }

  /** Throws when too many messages wait behind the turn already. */
  #mayQueue({ live: { taskId }, queued }: Runner): void {
    const { queuedTurns } = this.#context.limits;
    if (queued >= queuedTurns) throw tooMany(`messages waiting for task ${taskId}`, queuedTurns);
  }

  #begin(letter: Letter): Accepted | Promise<Accepted> {
    const { agent, runners, newId } = this.#context;
    const { message } = letter.request;
    const taskId = newId();
    const contextId = message.contextId ?? newId();
    const turn = this.#turn(letter, { ...message, taskId, contextId });
    const runner = runners.create(letter.scope, taskId, contextId);
    if (agent.opensWith === "either" && !letter.service.needsTask) return this.#hear(runner, turn);
    runner.take(turn);
    return { runner, turn };
  }

  /** Lets the agent's first event decide whether there is a task at all. */
  async #hear(runner: Runner, turn: Turn): Promise<Accepted> {
    const { agent, newId } = this.#context;
    runner.hear(turn);
    const speech = await hearFirst(() => turn.begin(agent, runner.find(turn.message)));
    if (turn.ended) {
      void runner.leave(speech.iterator);
      return { runner, turn };
    }
    const first = speech.first?.value;
    if (typeof first !== "object" || first === null || !("message" in first)) {
      runner.take(turn, speech);
      return { runner, turn };
    }
    runner.dismiss();
    turn.end();
    void runner.leave(speech.iterator);
    return { reply: toReply(runner.live.contextId, first.message, newId) };
  }

  /** A turn that holds its place among the agents at work until it ends. */
  #turn({ scope, request, caller, service, desk }: Letter, message: Message, attempt = 1): Turn {
    const all = this.#runs;
    // Who may choose the tenant would have as many places as there are names.
    const own = caller.choseTenant ? this.#desks.of({ ...caller, tenant: "" }).runs : desk.runs;
    all.enter();
    try {
      own.enter();
    } catch (error) {
      all.leave();
      throw error;
    }
    const { store, runners } = this.#context;
    const others = new OtherTasks(store, runners, scope, message);
    const turn = new Turn(request, message, caller, service, others, attempt);
    turn.onEnd(() => {
      all.leave();
      own.leave();
    });
    return turn;
  }
}

/** An agent is at work on the task, and does not wait for its user. */
function isAtWork({ live: { state }, turn }: Runner): boolean {
  return turn !== undefined && !turn.ended && state !== undefined && !isInterrupted(state);
}

/** Begins an agent and waits for the first that it says; what it throws is heard again by whoever goes on listening. */
async function hearFirst(begin: () => Speech): Promise<Speech> {
  try {
    const { iterator } = begin();
    return { iterator, first: await iterator.next() };
  } catch (error) {
    return { iterator: { next: (): Promise<IteratorResult<AgentEvent>> => Promise.reject(error) } };
  }
}

/** The message with which a logged event began a turn. */
export function messageIn(event: { task?: unknown } | object): Message | undefined {
  if ("message" in event) return event.message as Message;
  if ("task" in event) return (event.task as { history?: Message[] }).history?.at(-1);
  return undefined;
}

function messageIdTaken({ messageId }: Message): A2AError {
  const description = `${messageId} was used before for another message; give every new message an id of its own`;
  return A2AError.invalidParams([{ field: "message.messageId", description }]);
}
