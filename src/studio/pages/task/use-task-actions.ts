import { useEffect, useRef, useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";
import type { Part } from "../../../protocol/index.ts";
import type { TrafficLine } from "../../../observe/trace/index.ts";
import { formatError } from "../parts/notice.tsx";
import type { TaskRecord } from "./task-record.ts";

/** What the user can do with a task, and the state of the last action. */
export interface TaskActions {
  readonly pending: string | undefined;
  readonly problem: { readonly action: string; readonly error: unknown } | undefined;
  readonly cancel: () => void;
  readonly subscribe: (after: number | undefined) => void;
  readonly answer: (parts: readonly Part[]) => void;
  readonly registerPush: () => void;
  /** Ends the stream of the last `subscribe` or `answer`. */
  readonly stop: () => void;
}

/** Returns the actions of a task, or `undefined` for records, which accept no requests. */
export function useTaskActions(record: TaskRecord): TaskActions | undefined {
  if (!PAGE_SENDS_REQUESTS) return undefined;
  const { source, announcement, findAgent } = usePageState();
  const [pending, setPending] = useState<string>();
  const [problem, setProblem] = useState<TaskActions["problem"]>();
  const controller = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => controller.current?.abort(), [record]);
  const { actions } = source;
  const { agentId, taskId } = record;
  if (actions === undefined || !source.session.canAct || findAgent(agentId)?.isRecorded === true)
    return undefined;

  const run = (action: string, work: (signal: AbortSignal) => Promise<void>): void => {
    controller.current?.abort();
    const current = new AbortController();
    controller.current = current;
    setPending(action);
    setProblem(undefined);
    const finish = async (): Promise<void> => {
      try {
        await work(current.signal);
        announcement.value = `${action}: done`;
      } catch (error) {
        if (current.signal.aborted) return;
        setProblem({ action, error });
        announcement.value = `${action}: ${formatError(error)}`;
      } finally {
        if (controller.current === current) setPending(undefined);
      }
    };
    void finish();
  };
  const follow = async (stream: AsyncIterable<readonly TrafficLine[]>): Promise<void> => {
    for await (const lines of stream) record.addLines(lines);
    await record.refreshSnapshot();
  };
  return {
    pending,
    problem,
    cancel: () =>
      run("Cancel", async () => {
        await actions.cancelTask(agentId, taskId);
        await record.refreshSnapshot();
      }),
    subscribe: (after) =>
      run(after === undefined ? "Subscribe" : `Replay after event ${after}`, (signal) =>
        follow(actions.subscribe(agentId, taskId, after, signal)),
      ),
    answer: (parts) =>
      run("Answer", (signal) => {
        const contextId = record.snapshot.value?.contextId ?? record.findTask()?.contextId;
        const message = {
          messageId: crypto.randomUUID(),
          role: "ROLE_USER",
          taskId,
          ...(contextId === undefined ? {} : { contextId }),
          parts: [...parts],
        };
        return follow(actions.sendMessage(agentId, { message: JSON.parse(JSON.stringify(message)) }, signal));
      }),
    registerPush: () =>
      run(
        "Push notifications to this console",
        async () => void (await actions.registerPush(agentId, taskId)),
      ),
    stop: () => {
      controller.current?.abort();
      setPending(undefined);
    },
  };
}
