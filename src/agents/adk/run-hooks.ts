import type { AgentEvent, Run } from "../../engine/index.ts";
import type { RunStream } from "./run-stream.ts";
import type { AdkEvent, AdkRunRequest } from "./adk-structural-types.ts";

type StatusEvent = Extract<AgentEvent, { status: unknown }>;

/**
 * Hooks that are called in every ADK run. If a hook throws an error, the task fails.
 */
export interface RunHooks {
  /**
   * Hook that runs before each ADK run. The hook may return another ADK request, or a status that ends the
   * turn without a run, for example `TASK_STATE_REJECTED`.
   */
  beforeRun?: (
    request: AdkRunRequest,
    run: Run,
  ) => AdkRunRequest | StatusEvent | undefined | Promise<AdkRunRequest | StatusEvent | undefined>;
  /**
   * Hook that runs before each event is emitted, except the final status. The hook returns `undefined` to
   * emit the event unchanged, `null` to drop the event, or other events to replace the event. The
   * parameter `source` of the hook is the most recent ADK event.
   */
  onEvent?: (
    event: AgentEvent,
    source: AdkEvent | undefined,
    run: Run,
  ) => OnEventHookResult | Promise<OnEventHookResult>;
  /**
   * Hook that runs once for the final status of a turn, which may be a request for input. The hook also runs
   * if `onEvent` throws. The hook may return another status.
   */
  afterRun?: (status: StatusEvent, run: Run) => StatusEvent | undefined | Promise<StatusEvent | undefined>;
}

type OnEventHookResult = AgentEvent | readonly AgentEvent[] | null | undefined;

export function isStatusEvent(value: AdkRunRequest | StatusEvent): value is StatusEvent {
  return "status" in value;
}

function isFinalStatusEvent(event: AgentEvent): event is StatusEvent {
  return "status" in event && event.status.state !== "TASK_STATE_WORKING";
}

/** Yields the events of a run after the hooks have processed them. */
export async function* applyRunHooksToEvents(
  stream: RunStream,
  { onEvent, afterRun }: RunHooks,
  run: Run,
): AsyncGenerator<AgentEvent, void, undefined> {
  let hasCalledAfterRun = false;
  const applyAfterRun = async (event: AgentEvent): Promise<AgentEvent> => {
    if (hasCalledAfterRun || !isFinalStatusEvent(event)) return event;
    hasCalledAfterRun = true;
    return (await afterRun?.(event, run)) ?? event;
  };
  const applyHooks = async (event: AgentEvent): Promise<readonly AgentEvent[]> => {
    if (isFinalStatusEvent(event)) return [await applyAfterRun(event)];
    const result = await onEvent?.(event, stream.lastAdkEvent, run);
    if (result === null) return [];
    if (result === undefined) return [event];
    return "length" in result ? result : [result];
  };
  let thrown: unknown;
  try {
    for (let step = await stream.next(); !step.done; step = await stream.next()) {
      let events: readonly AgentEvent[];
      try {
        events = await applyHooks(step.value);
      } catch (error) {
        const outcome = stream.fail("processor failed", error);
        thrown = outcome.error;
        for (const event of outcome.events) yield await applyAfterRun(event).catch(() => event);
        break;
      }
      yield* events;
    }
  } finally {
    void stream.return();
  }
  if (thrown) throw thrown;
}
