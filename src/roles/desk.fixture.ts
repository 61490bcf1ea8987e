import {
  type Card,
  type CardProtocol,
  type CardUsage,
  type ControlCard,
  createCardProtocol,
  type ErrorCard,
  type ResultCard,
  type TaskCard,
} from "../cards/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import type { ModelReply, ModelRequest, RoleModel } from "./model.ts";
import { ANSWERER_ROUTES } from "./solver/answerer.ts";
import type { Answer, Asked, Delegated, Desk, Role } from "./role.ts";

/** Who does what a role delegates: another role with its model, or a function. */
export type Colleague =
  | { readonly role: Role; readonly model: RoleModel }
  | ((task: Delegated, signal: AbortSignal) => Answer | Promise<Answer>);

export interface FakeDeskOptions {
  readonly task: string | TaskCard;
  readonly context?: JsonObject;
  readonly dataset?: string;
  readonly sampleId?: string;
  readonly model: RoleModel;
  readonly colleagues?: Readonly<Record<string, Colleague>>;
}

/** One in-process run: every card and model call in their order. Ids count up and time stands still. */
export class FakeRun {
  readonly cards: Card[] = [];
  readonly requests: ModelRequest[] = [];
  readonly spent: CardUsage[] = [];
  #ids = 0;
  readonly protocol: CardProtocol = createCardProtocol({
    routes: ANSWERER_ROUTES,
    newId: () => `c${++this.#ids}`,
    now: () => 0,
  });

  send<C extends Card>(card: C): C {
    this.cards.push(card);
    return card;
  }

  /** Of all tasks that `role` was sent. */
  tasksTo(role: string): TaskCard[] {
    return this.cards.filter((card) => card.message_type === "task" && card.recipient === role) as TaskCard[];
  }

  get notices(): ErrorCard[] {
    return this.cards.filter(
      (card) => card.message_type === "error" && card.metadata.in_reply_to === undefined,
    ) as ErrorCard[];
  }
}

/** A desk in this process, with the promises of the real one and no network. */
export class FakeDesk implements Desk {
  readonly task: TaskCard;
  readonly run: FakeRun;
  readonly abort: AbortController = new AbortController();
  readonly signal: AbortSignal;
  readonly #model: RoleModel;
  readonly #name: string;
  readonly #colleagues: Readonly<Record<string, Colleague>>;
  #controls: ControlCard[] = [];
  #wake: (() => void) | undefined;
  #unsaid: CardUsage | undefined;

  constructor(
    name: string,
    task: TaskCard,
    model: RoleModel,
    colleagues: Readonly<Record<string, Colleague>>,
    run: FakeRun,
  ) {
    this.signal = this.abort.signal;
    this.task = task;
    this.run = run;
    this.#name = name;
    this.#model = model;
    this.#colleagues = colleagues;
  }

  async think(asked: Omit<ModelRequest, "role" | "signal">): Promise<ModelReply> {
    this.signal.throwIfAborted();
    const request: ModelRequest = { ...asked, role: this.#name, signal: this.signal };
    this.run.requests.push(request);
    const reply = await this.#model.complete(request);
    if (reply.usage) {
      this.run.spent.push(reply.usage);
      this.#unsaid = add(this.#unsaid, reply.usage);
    }
    return reply;
  }

  async delegate(delegated: Delegated): Promise<ResultCard | ErrorCard> {
    this.signal.throwIfAborted();
    const { to, task, context, turn, forced, attempt, metadata } = delegated;
    const { sample_id, dataset } = this.task.metadata;
    const card = this.run.send(
      this.run.protocol.createTaskCard({
        from: this.#name as "planner",
        to: to as "solver",
        task,
        ...(context && { context }),
        metadata: {
          ...(sample_id !== undefined && { sample_id }),
          ...(dataset !== undefined && { dataset }),
          ...(turn !== undefined && { turn }),
          ...(forced && { forced }),
          ...(attempt !== undefined && { attempt }),
          ...this.#takeUsage(),
          ...metadata,
        },
      }),
    );
    const colleague = this.#colleagues[to];
    if (!colleague) throw new Error(`nobody is called ${to}`);
    const stopped = new Promise<never>((_, reject) => {
      this.signal.addEventListener("abort", () => reject(this.signal.reason as Error), { once: true });
    });
    stopped.catch(() => {});
    if (typeof colleague === "function") {
      const answer = (async (): Promise<Answer> => colleague(delegated, this.signal))();
      answer.catch(() => {});
      return this.#reply(to, card, await Promise.race([answer, stopped]), {});
    }
    const desk = new FakeDesk(to, card, colleague.model, {}, this.run);
    const answer = answerOf(colleague.role, desk);
    return Promise.race([answer.then((one) => this.#reply(to, card, one, desk.#takeUsage())), stopped]);
  }

  query(query: Asked): Promise<ResultCard> {
    throw new Error(`nobody answers ${query.query}`);
  }

  notice({ error, errorType }: Extract<Answer, { error: string }>): void {
    this.run.send(
      this.run.protocol.createErrorCard({
        from: this.#name as "planner",
        to: "controller",
        error,
        errorType,
      }),
    );
  }

  controls(): ControlCard[] {
    const taken = this.#controls;
    this.#controls = [];
    return taken;
  }

  async controlled(): Promise<void> {
    if (this.#controls.length > 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#wake = resolve;
      this.signal.addEventListener("abort", () => reject(this.signal.reason as Error), { once: true });
    });
  }

  /** What a controller does to a task under way. */
  control(action: string, parameters?: JsonObject): void {
    const card = this.run.protocol.createControlCard({
      from: "controller",
      to: "planner",
      action,
      ...(parameters && { parameters }),
    });
    if (action === "stop") return this.abort.abort(card);
    this.#controls.push(card);
    this.#wake?.();
  }

  /** The one reply to the task of this desk. */
  finish(answer: Answer): ResultCard | ErrorCard {
    return this.#reply(this.#name, this.task, answer, this.#takeUsage());
  }

  #reply(from: string, task: TaskCard, answer: Answer, usage: object): ResultCard | ErrorCard {
    const ends = { from: from as "solver", to: task.sender as "planner" };
    const own = { in_reply_to: task.metadata.card_id ?? "", ...usage };
    if ("error" in answer) {
      const { error, errorType, retryable } = answer;
      const metadata = { ...own, ...(retryable !== undefined && { retryable }) };
      return this.run.send(this.run.protocol.createErrorCard({ ...ends, error, errorType, metadata }));
    }
    const { result, status, metadata } = answer;
    return this.run.send(
      this.run.protocol.createResultCard({ ...ends, result, status, metadata: { ...metadata, ...own } }),
    );
  }

  #takeUsage(): { usage?: CardUsage; tokens?: number } {
    const usage = this.#unsaid;
    this.#unsaid = undefined;
    return usage ? { usage, tokens: usage.input_tokens + usage.output_tokens } : {};
  }
}

/** A desk for a role, with its task, before anything happens. */
export function openDesk(role: Role, options: FakeDeskOptions): FakeDesk {
  const run = new FakeRun();
  const task =
    typeof options.task === "string"
      ? run.protocol.createTaskCard({
          from: "controller",
          to: role.name as "planner",
          task: options.task,
          ...(options.context && { context: options.context }),
          metadata: {
            ...(options.dataset !== undefined && { dataset: options.dataset }),
            ...(options.sampleId !== undefined && { sample_id: options.sampleId }),
          },
        })
      : options.task;
  return new FakeDesk(role.name, run.send(task), options.model, options.colleagues ?? {}, run);
}

/** The whole work of a role on one task. */
export async function runRole(
  role: Role,
  options: FakeDeskOptions,
): Promise<{ reply: ResultCard | ErrorCard; run: FakeRun }> {
  const desk = openDesk(role, options);
  return { reply: desk.finish(await answerOf(role, desk)), run: desk.run };
}

/** What a role throws is an error card, as at the real desk. */
export async function answerOf(role: Role, desk: FakeDesk): Promise<Answer> {
  try {
    return await role.work(desk);
  } catch (error) {
    if (desk.signal.aborted) return { error: "stopped", errorType: "cancelled" };
    return { error: error instanceof Error ? error.message : String(error), errorType: "model_error" };
  }
}

function add(left: CardUsage | undefined, right: CardUsage): CardUsage {
  if (!left) return right;
  return {
    ...right,
    input_tokens: left.input_tokens + right.input_tokens,
    output_tokens: left.output_tokens + right.output_tokens,
  };
}
