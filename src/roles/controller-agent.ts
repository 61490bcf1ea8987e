import type { Agent, AgentDescription, AgentEvent, Caller, Run } from "../engine/index.ts";
import {
  type Card,
  type ErrorCard,
  generateFlowDiagram,
  type QueryCard,
  type ResultCard,
} from "../cards/index.ts";
import { type JsonObject, type Task, textOf } from "../protocol/index.ts";
import { systemClock } from "./a2a/clock.ts";
import { Sitting } from "./a2a/sitting.ts";
import { Sittings, type WaitingLimits } from "./a2a/sittings.ts";
import { defined } from "./a2a/defined.ts";
import { errorText } from "./a2a/error-text.ts";
import type { Controller, Problem } from "./controller.ts";

export interface ControllerAgentOptions
  extends WaitingLimits, Pick<Problem, "to" | "dataset" | "context" | "deadlineMs"> {
  readonly controller: Controller;
  /** Default `controller`. */
  readonly name?: string;
  readonly description?: string;
}

/** A problem of somebody who knows nothing of cards. */
interface Asking {
  readonly sitting: Sitting<string>;
}

/**
 * A controller as an agent for people: a problem comes in words, each card between the roles is a line of progress, the
 * answer is an artifact, and another one is the flow of the cards. What a role asks is asked on.
 */
export function controllerAgent(options: ControllerAgentOptions): Agent {
  const { name = "controller", description = "Has problems solved by a planner and its solvers." } = options;
  const { to, dataset, context, deadlineMs } = options;
  const about = defined({ to, dataset, context, deadlineMs });
  const problems = new Sittings<string, Asking>(systemClock, options);
  return {
    describe: (): AgentDescription => ({
      name,
      description,
      version: "1.0.0",
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "solve", name: "Solve", description, tags: ["cards", "solve"] }],
    }),
    async *execute(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
      const text = textOf(run.message.parts);
      const known = problems.find(run.taskId);
      if (!known && (run.task.history?.length ?? 0) > 1) {
        yield said(
          "TASK_STATE_FAILED",
          "The server was restarted meanwhile, and the question is forgotten; ask again.",
        );
        return;
      }
      known?.sitting.answer(text);
      yield* problems.turn(known ?? begin(run, text), run);
    },
    cancelled: ({ id }: Task, _caller: Caller, metadata: JsonObject) => problems.giveUp(id, metadata),
  };

  function begin({ taskId, contextId, traceparent }: Run, task: string): Asking {
    const stop = new AbortController();
    const sitting = new Sitting<string>(() => stop.abort());
    const asking = problems.begin(taskId, { sitting });
    void solve(taskId, asking, stop.signal, { task, contextId, ...defined({ traceparent }) });
    return asking;
  }

  async function solve(
    taskId: string,
    asking: Asking,
    signal: AbortSignal,
    problem: Pick<Problem, "task" | "contextId" | "traceparent">,
  ): Promise<void> {
    const { sitting } = asking;
    const ask = (query: QueryCard): Promise<string> =>
      problems.ask(taskId, asking, said("TASK_STATE_INPUT_REQUIRED", questionOf(query)), signal);
    try {
      const { reply, cards } = await options.controller.solve({
        ...about,
        ...problem,
        relay: "full",
        signal,
        onCard: (card) => sitting.say(said("TASK_STATE_WORKING", lineOf(card))),
        answer: async (query) => ({ result: await ask(query) }),
      });
      for (const event of ending(reply, cards, signal.aborted)) sitting.say(event);
    } catch (error) {
      // What cannot be a card, for example a text that is too long.
      sitting.say(said("TASK_STATE_FAILED", errorText(error)));
    }
    problems.end(taskId, asking);
  }
}

type Said = Parameters<Sitting<string>["say"]>[0];
type State = Extract<Said, { status: unknown }>["status"]["state"];

function said(state: State, text: string): Said {
  return { status: { state, message: { parts: [{ text }] } } };
}

function ending(reply: ResultCard | ErrorCard, cards: readonly Card[], wasStopped: boolean): Said[] {
  const flow = { artifactId: "flow", name: "flow", parts: [{ text: generateFlowDiagram(cards) }] };
  const stopped = wasStopped ? "TASK_STATE_CANCELED" : undefined;
  const { content, metadata } = reply;
  if (reply.message_type === "error" || metadata["status"] === "error") {
    return [{ artifact: flow }, said(stopped ?? "TASK_STATE_FAILED", content)];
  }
  const answer = { artifactId: "answer", name: "answer", parts: [{ text: content }] };
  const isPartial = metadata["status"] === "partial";
  const end: Said = { status: { state: (isPartial && stopped) || "TASK_STATE_COMPLETED" } };
  return [{ artifact: answer }, { artifact: flow }, end];
}

function lineOf({ sender, recipient, message_type, content }: Card): string {
  return `${sender} → ${recipient} [${message_type}] ${content}`;
}

function questionOf({ content, metadata: { options } }: QueryCard): string {
  return options?.length ? `${content} (${options.join(" | ")})` : content;
}
