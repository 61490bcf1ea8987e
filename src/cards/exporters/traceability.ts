import type { Delegation } from "../views/delegations.ts";
import { buildSampleExchanges, toRecording, type CardsOrRecording } from "../views/sample-exchanges.ts";
import { sumBy } from "../statistics/index.ts";
import { computeSpanId, computeTraceId } from "./trace-ids.ts";

/** The URI of A2A's Traceability extension, whose form this is. */
export const TRACEABILITY_EXTENSION = "https://github.com/a2aproject/a2a-samples/extensions/traceability/v1";

/** A response's trace, with the member names of the extension: what was done to answer. */
export type ResponseTrace = {
  trace_id: string;
  steps: TraceStep[];
};

/** A task that was given to another agent. A `type`, because only those are JSON objects by their shape. */
export type TraceStep = {
  step_id: string;
  trace_id: string;
  /** Missing of a step that comes of no other. */
  parent_step_id?: string;
  call_type: "AGENT";
  step_action: {
    agent_invocation: {
      agent_name: string;
      requests: { content: string };
      /** What the agent in turn gave to others. */
      response_trace?: ResponseTrace;
    };
  };
  /** Of the agent alone; what others spent for it is on their steps. */
  total_tokens?: number;
  additional_attributes: Record<string, string>;
  /** Milliseconds. */
  latency: number;
  start_time: string;
  end_time: string;
};

/** A trace for each problem of a run: a step for each task, and in it the steps of whoever worked on it. */
export function toResponseTraces(shown: CardsOrRecording): ResponseTrace[] {
  const { cards } = toRecording(shown);
  const [first] = cards;
  const offset = first ? Date.parse(first.at) - first.mono_ms : 0;
  return buildSampleExchanges(shown).map(({ sampleId, roots, timings: moments }) => {
    const name = [first?.run_id ?? "", sampleId ?? "", moments[0]?.card.timestamp ?? ""];
    const traceOf = (
      delegations: readonly Delegation[],
      path: readonly string[],
      parent?: string,
    ): ResponseTrace => {
      const trace_id = computeTraceId(...name, ...path);
      const steps = delegations.map((one, at): TraceStep => {
        const { task, reply, sentMs: sent, answeredMs: answered, workSpans: spans, subtasks } = one;
        const own = [...path, task.metadata.card_id ?? String(at)];
        const step_id = computeSpanId(...name, ...own);
        const tokens = spans.flatMap(({ card }) => card.metadata.tokens ?? []);
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
              ...(subtasks.length > 0 && { response_trace: traceOf(subtasks, own, step_id) }),
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
          latency: Math.round(answered - sent),
          start_time: new Date(sent + offset).toISOString(),
          end_time: new Date(answered + offset).toISOString(),
        };
      });
      return { trace_id, steps };
    };
    return traceOf(roots, []);
  });
}
