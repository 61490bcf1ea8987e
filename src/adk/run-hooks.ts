import type { AgentEvent, Run } from "../engine/index.ts";
import type { RunStream } from "./run-stream.ts";
import type { AdkEvent, AdkRunRequest } from "./types.ts";

type StatusEvent = Extract<AgentEvent, { status: unknown }>;

/**
 * The owner's say in every run. A hook that throws fails the task: what went wrong is told as for a run that throws.
 */
export interface RunHooks {
  /** May give another request for ADK, or a status that the task takes instead of a run, for example REJECTED. */
  beforeRun?: (
    request: AdkRunRequest,
    run: Run,
  ) => AdkRunRequest | StatusEvent | undefined | Promise<AdkRunRequest | StatusEvent | undefined>;
  /**
   * Asked for all that the task is about to say but its last status. Undefined: it is said as it is; null: it is not
   * said; otherwise this is said in its place. `lastAdkEvent` is the ADK event that came last.
   */
  onEvent?: (
    event: AgentEvent,
    source: AdkEvent | undefined,
    run: Run,
  ) => OnEventResult | Promise<OnEventResult>;
  /** May give another last status: how the run ended, or that it waits for its user. */
  afterRun?: (status: StatusEvent, run: Run) => StatusEvent | undefined | Promise<StatusEvent | undefined>;
}

type OnEventResult = AgentEvent | readonly AgentEvent[] | null | undefined;

export function isStatusEvent(value: AdkRunRequest | StatusEvent): value is StatusEvent {
  return "status" in value;
}

/** What a run says, through the hooks of its owner. */
export async function* applyRunHooks(
  stream: RunStream,
  { onEvent, afterRun }: RunHooks,
  run: Run,
): AsyncGenerator<AgentEvent, void, undefined> {
  const through = async (event: AgentEvent): Promise<readonly AgentEvent[]> => {
    if ("status" in event && event.status.state !== "TASK_STATE_WORKING") {
      return [(await afterRun?.(event, run)) ?? event];
    }
    const said = await onEvent?.(event, stream.lastAdkEvent, run);
    if (said === null) return [];
    if (said === undefined) return [event];
    return "length" in said ? said : [said];
  };
  let thrown: unknown;
  try {
    for (let step = await stream.next(); !step.done; step = await stream.next()) {
      let said: readonly AgentEvent[];
      try {
        said = await through(step.value);
      } catch (error) {
        const ending = stream.fail("processor failed", error);
        yield* ending.events;
        thrown = ending.error;
        break;
      }
      yield* said;
    }
  } finally {
    void stream.return();
  }
  if (thrown) throw thrown;
}
