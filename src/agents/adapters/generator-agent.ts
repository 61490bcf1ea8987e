import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, AgentEvent, Run, TurnPolicy } from "../../engine/index.ts";
import {
  acceptsMediaType,
  assertValidAgentCard,
  getMediaType,
  getText,
  type Message,
  type Part,
} from "../../protocol/index.ts";
import { AgentEventIterator } from "./agent-event-iterator.ts";
import type { AgentYield } from "./agent-yield.ts";
import { registerRunOfSignal } from "./run-of-signal.ts";

/**
 * The input of an agent's generator for one turn, including the text of the message and the task's history.
 */
export interface Turn extends Run {
  /** The text of the message that started this turn of the agent. */
  readonly text: string;
  /** All messages of the task, oldest first. The last message of the task's history is `message`. */
  readonly history: readonly Message[];
}

/** The generator function of an agent. */
export type AgentGenerator = (run: Turn) => AsyncIterable<AgentYield, void, undefined>;

/** Options of `agent` in addition to the agent's description. */
export interface GeneratorOptions extends Pick<
  Agent,
  | "id"
  | "respondsWith"
  | "whileWorking"
  | "interruptible"
  | "concurrentTurns"
  | "describeExtended"
  | keyof TurnPolicy
> {
  /**
   * Determines what happens to a turn that a server restart interrupted. `restart` runs the interrupted turn
   * again from its beginning. `fail` ends the task as FAILED. Default: `fail`.
   */
  readonly afterRestart?: "fail" | "restart";
  /**
   * Determines the content of the last chunk of each streamed artifact. With `whole`, the last chunk repeats
   * and replaces the entire content, because ADK for Python stores only the last chunk. With `pieces`, the
   * last chunk contains only new content, for large artifacts and for clients that join the text of all
   * chunks. Default: `whole`.
   */
  readonly artifacts?: "whole" | "pieces" | undefined;
}

const assertKnownOptions = defineOptionNames<GeneratorOptions>()(
  "agent",
  "afterRestart artifacts concurrentTurns describeExtended id interruptible maxSilenceMs maxTurnMs respondsWith",
  "whenUnread whileWorking",
);
const assertKnownDescription = defineOptionNames<AgentDescription>()(
  "agent(description)",
  "capabilities defaultInputModes defaultOutputModes description documentationUrl iconUrl name",
  "provider securityRequirements securitySchemes skills version",
);

/**
 * Creates an agent from an async generator.
 *
 * ```ts
 * export const hello = agent({ name: "hello", description: "Greets people" }, async function* ({ text }) {
 *   yield status("Thinking of a greeting…");
 *   for (const word of ["Hello ", text, "!"]) yield word;
 * });
 * ```
 *
 * The adapter sends each yielded value to the caller immediately. The yielded strings and parts form the
 * answer, which is one streamed artifact per turn. The functions `status`, `artifact`, `chunk`, and
 * `inputRequired` create other values that a generator may yield. The adapter passes yielded agent events to
 * the caller unchanged.
 *
 * The task becomes COMPLETED when the generator returns, FAILED when it throws or exceeds a time limit, and
 * CANCELED when a client cancels it. A `yield` of `inputRequired`, `authRequired`, or a final status ends the
 * turn. After the `yield` that ends a turn, only the generator's `finally` blocks run.
 */
export function agent(
  description: AgentDescription,
  work: AgentGenerator,
  options: GeneratorOptions = {},
): Agent {
  assertKnownOptions(options);
  assertKnownDescription(description);
  return createGeneratorAgent(description, work, options);
}

function createGeneratorAgent(
  description: AgentDescription,
  work: AgentGenerator,
  options: GeneratorOptions,
): Agent {
  assertAsyncGeneratorFunction(description.name, work);
  const { artifacts, ...agentOptions } = options;
  assertValidAgentCard(description);
  const completeCard = completeDescription(description);
  return {
    ...agentOptions,
    describe: () => completeCard,
    execute: (run) =>
      convertUnacceptedDataPartsToText(
        new AgentEventIterator(run, work(new Proxy({ run }, TURN_HANDLER) as unknown as Turn), artifacts),
        run,
      ),
  };
}

/** Names of the options of an adapter that describe the agent and its turns, without `afterRestart`. */
export const ADAPTER_OPTION_NAMES =
  "artifacts capabilities defaultInputModes defaultOutputModes description documentationUrl iconUrl maxSilenceMs maxTurnMs name provider securityRequirements securitySchemes skills version whenUnread";

/** Options of an adapter that describe the agent and its turns. */
type AdapterAgentOptions = AgentDescription &
  Pick<GeneratorOptions, "afterRestart" | "artifacts" | keyof TurnPolicy>;

/** Creates the agent of an adapter from the options that the adapter itself does not use. */
export function createAdapterAgent(
  {
    afterRestart = "fail",
    artifacts,
    maxSilenceMs,
    maxTurnMs,
    whenUnread,
    ...description
  }: AdapterAgentOptions,
  work: AgentGenerator,
): Agent {
  return createGeneratorAgent(description, work, {
    afterRestart,
    artifacts,
    maxSilenceMs,
    maxTurnMs,
    whenUnread,
  });
}

/** Detects the wrong kinds of functions when the agent is created, instead of at its first message. */
function assertAsyncGeneratorFunction(name: string, work: unknown): void {
  const kind = typeof work === "function" ? Object.prototype.toString.call(work).slice(8, -1) : typeof work;
  if (!["undefined", "object", "string", "AsyncFunction", "GeneratorFunction"].includes(kind)) return;
  throw new TypeError(
    `The second argument of agent ${JSON.stringify(name)} is of type ${kind}; write async function* ({ text }) { yield … }.`,
  );
}

/**
 * Adds a version and a default skill to an agent description. Clients select agents by skill, so an agent
 * without skills receives a default skill with the agent's name and description.
 */
function completeDescription(details: AgentDescription): AgentDescription {
  const { name, description } = details;
  const id = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return {
    version: "1.0.0",
    skills: [{ id, name, description, tags: [id] }],
    ...details,
  };
}

/** The members of a turn that its run does not have, or that the run has without the registration of its signal. */
const TURN_MEMBERS: Readonly<Record<Exclude<keyof Turn, keyof Run> | "signal", (run: Run) => unknown>> = {
  text: ({ message }) => getText(message.parts),
  history: ({ task, message }) => task.history ?? [message],
  signal: (run) => registerRunOfSignal(run.signal, run),
};

/**
 * Reads a member on access, because the run creates some values, such as a copy of the task, on access. The target is not
 * the run itself, because a proxy may not bind the functions of a frozen target.
 */
const TURN_HANDLER: ProxyHandler<{ readonly run: Run }> = {
  get({ run }, name) {
    if (Object.hasOwn(TURN_MEMBERS, name)) return TURN_MEMBERS[name as keyof typeof TURN_MEMBERS](run);
    const value: unknown = Reflect.get(run, name, run);
    return typeof value === "function" ? (value.bind(run) as unknown) : value;
  },
  has: ({ run }, name) => Object.hasOwn(TURN_MEMBERS, name) || Reflect.has(run, name),
};

/**
 * Converts data parts to JSON text for clients that accept text but not JSON (A2A §3.2.2,
 * `acceptedOutputModes`). The function never removes a part from the answer. To check for another media type,
 * an agent can call `acceptsMediaType(run.configuration, "image/png")`.
 */
function convertUnacceptedDataPartsToText(
  events: AsyncIterable<AgentEvent>,
  { configuration }: Run,
): AsyncIterable<AgentEvent> {
  const acceptsText = acceptsMediaType(configuration, "text/plain");
  if (!acceptsText || acceptsMediaType(configuration, "application/json")) return events;
  return mapAgentEventStreamParts(events, (part) =>
    "data" in part && !acceptsMediaType(configuration, getMediaType(part) ?? "")
      ? dataPartToTextPart(part)
      : part,
  );
}

async function* mapAgentEventStreamParts(
  events: AsyncIterable<AgentEvent>,
  convertPart: (part: Part) => Part,
): AsyncGenerator<AgentEvent, void, undefined> {
  for await (const event of events) yield mapAgentEventParts(event, convertPart);
}

function mapAgentEventParts(event: AgentEvent, convertPart: (part: Part) => Part): AgentEvent {
  if ("artifact" in event) {
    return { ...event, artifact: { ...event.artifact, parts: event.artifact.parts.map(convertPart) } };
  }
  if ("message" in event) {
    return { ...event, message: { ...event.message, parts: event.message.parts.map(convertPart) } };
  }
  const { message, ...status } = event.status;
  if (!message) return event;
  return { ...event, status: { ...status, message: { ...message, parts: message.parts.map(convertPart) } } };
}

/** Creates a text part with a media type, which prevents a merge with adjacent text. */
function dataPartToTextPart({ data, ...otherFields }: Extract<Part, { data: unknown }>): Part {
  return { ...otherFields, text: JSON.stringify(data), mediaType: "text/plain" };
}
