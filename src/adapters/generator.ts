import type { Agent, AgentDescription, Run } from "../engine/index.ts";
import { assertValidAgentCard, getText, type Message, type Task } from "../protocol/index.ts";
import type { AgentYield } from "./agent-yield.ts";
import { AgentEventIterator } from "./agent-event-iterator.ts";
import { withAcceptedOutputModes } from "./accepted-output-modes.ts";

/** What a generator is given for one turn: the run, with the two things that nearly every agent wants at hand. */
export interface Turn extends Run {
  /** The text of the message that began this turn. */
  readonly text: string;
  /** Every message of the task, oldest first; the last is `message`. */
  readonly history: readonly Message[];
}

/** The body of an agent. */
export type AgentGenerator = (run: Turn) => AsyncIterable<AgentYield, void, undefined>;

/** What an `agent` may say of itself beside its description. */
export interface GeneratorOptions extends Pick<Agent, "respondsWith" | "whileWorking" | "describeExtended"> {
  /** `restart`: after a restart of the server a turn that was at work is begun again from the start. Default: its task fails. */
  readonly afterRestart?: "fail" | "restart";
}

/**
 * An agent from an async generator.
 *
 * ```ts
 * export const hello = agent({ name: "hello", description: "Greets people" }, async function* ({ text }) {
 *   yield status("Thinking of a greeting…");
 *   for (const word of ["Hello ", text, "!"]) yield word;
 * });
 * ```
 *
 * What it yields is said at once: strings and parts make up the answer (one artifact per turn, streamed), the makers
 * of this room say the rest (`status`, `artifact`, `chunk`, `inputRequired` …), and any event of the agent port passes
 * as it is. When it returns, the task is COMPLETED; when it throws, FAILED; when `run.signal` aborts, CANCELED.
 * `inputRequired`, `authRequired` and every final status end the turn, so nothing after such a `yield` runs but
 * `finally` blocks.
 */
export function agent(
  description: AgentDescription,
  work: AgentGenerator,
  options: GeneratorOptions = {},
): Agent {
  const completeCard = completeDescription(description);
  assertValidAgentCard(completeCard);
  return {
    ...options,
    describe: () => completeCard,
    execute: (run) => withAcceptedOutputModes(new AgentEventIterator(run, work(new GeneratorTurn(run))), run),
  };
}

/** A skill is what others choose an agent by; one that names none can at least do what it says of itself. */
function completeDescription(details: AgentDescription): AgentDescription {
  const { name, description } = details;
  const id = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return {
    version: "1.0.0",
    skills: [{ id, name, description, tags: [id] }],
    ...details,
  };
}

/** Reads through to the run, because a runner may make what is costly (a copy of the task) only when it is asked for. */
class GeneratorTurn implements Turn {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  get text(): string {
    return getText(this.#run.message.parts);
  }
  get history(): readonly Message[] {
    return this.#run.task.history ?? [this.#run.message];
  }
  get taskId(): string {
    return this.#run.taskId;
  }
  get contextId(): string {
    return this.#run.contextId;
  }
  get message(): Message {
    return this.#run.message;
  }
  get task(): Run["task"] {
    return this.#run.task;
  }
  get attempt(): number {
    return this.#run.attempt;
  }
  get caller(): Run["caller"] {
    return this.#run.caller;
  }
  get configuration(): Run["configuration"] {
    return this.#run.configuration;
  }
  get metadata(): Run["metadata"] {
    return this.#run.metadata;
  }
  get protocolVersion(): string {
    return this.#run.protocolVersion;
  }
  get extensions(): Run["extensions"] {
    return this.#run.extensions;
  }
  get signal(): AbortSignal {
    return this.#run.signal;
  }
  get traceparent(): string | undefined {
    return this.#run.traceparent;
  }
  get cancelMetadata(): Run["cancelMetadata"] {
    return this.#run.cancelMetadata;
  }
  loadReferencedTasks(): Promise<Task[]> {
    return this.#run.loadReferencedTasks();
  }

  listInterruptedTasks(): Promise<Task[]> {
    return this.#run.listInterruptedTasks();
  }
}
