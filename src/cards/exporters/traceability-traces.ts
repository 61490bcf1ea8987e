import type { Delegation } from "../views/delegated-task-forest.ts";
import {
  buildSampleDelegationForests,
  convertCardsToRecording,
  type CardsOrRecording,
} from "../views/sample-delegation-forests.ts";
import { sumBy } from "../statistics/index.ts";
import { computeSpanId, computeTraceId } from "./trace-ids.ts";

/** URI of the A2A Traceability extension, which defines the exported trace format. */
export const TRACEABILITY_EXTENSION = "https://github.com/a2aproject/a2a-samples/extensions/traceability/v1";

/** Trace of an agent response, with the member names of the Traceability extension. */
type TraceabilityTrace = {
  trace_id: string;
  steps: TraceabilityTraceStep[];
};

/**
 * Task that was delegated to another agent. `TraceabilityTraceStep` is a type alias, because TypeScript
 * cannot assign an interface to a JSON object type.
 */
type TraceabilityTraceStep = {
  step_id: string;
  trace_id: string;
  /** ID of the parent step, absent for a root step. */
  parent_step_id?: string;
  call_type: "AGENT";
  step_action: {
    agent_invocation: {
      agent_name: string;
      requests: { content: string };
      /** Steps that the agent delegated to other agents. */
      response_trace?: TraceabilityTrace;
    };
  };
  /** Number of tokens that the agent used, excluding the tokens of delegated steps. */
  total_tokens?: number;
  additional_attributes: Record<string, string>;
  /** Duration of the step in milliseconds. */
  latency: number;
  start_time: string;
  end_time: string;
};

/**
 * Converts a run into one response trace for each problem, with a step for each task. The step of a task
 * contains the steps of its subtasks.
 */
export function toTraceabilityTraces(shown: CardsOrRecording): TraceabilityTrace[] {
  const { cards } = convertCardsToRecording(shown);
  const [first] = cards;
  const offset = first ? Date.parse(first.at) - first.mono_ms : 0;
  return buildSampleDelegationForests(shown).map(({ sampleId, roots, timings }) => {
    const name = [first?.run_id ?? "", sampleId ?? "", timings[0]?.card.timestamp ?? ""];
    const buildTrace = (
      delegations: readonly Delegation[],
      path: readonly string[],
      parent?: string,
    ): TraceabilityTrace => {
      const trace_id = computeTraceId(...name, ...path);
      const steps = delegations.map((one, at): TraceabilityTraceStep => {
        const { task, reply, sentMs, answeredMs, workSpans, subtasks } = one;
        const stepPath = [...path, task.metadata.card_id ?? String(at)];
        const step_id = computeSpanId(...name, ...stepPath);
        const tokens = workSpans.flatMap(({ card }) => card.metadata.tokens ?? []);
        const { status, error_type } = reply?.metadata ?? {};
        return {
          step_id,
          trace_id,
          ...(parent !== undefined && { parent_step_id: parent }),
          call_type: "AGENT",
          step_action: {
            agent_invocation: {
              agent_name: task.recipient,
              requests: { content: task.content },
              ...(subtasks.length > 0 && { response_trace: buildTrace(subtasks, stepPath, step_id) }),
            },
          },
          ...(tokens.length > 0 && { total_tokens: sumBy(tokens, Number) }),
          additional_attributes: {
            caller: task.sender,
            ...(sampleId !== undefined && { sample_id: sampleId }),
            reply: reply?.content ?? "",
            status: typeof status === "string" ? status : reply ? reply.message_type : "no reply",
            ...(typeof error_type === "string" && { error_type }),
          },
          latency: Math.round(answeredMs - sentMs),
          start_time: new Date(sentMs + offset).toISOString(),
          end_time: new Date(answeredMs + offset).toISOString(),
        };
      });
      return { trace_id, steps };
    };
    return buildTrace(roots, []);
  });
}
