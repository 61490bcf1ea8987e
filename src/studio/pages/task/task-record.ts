import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type PageState, usePageState } from "../app/page-state.ts";
import type { Task } from "../../../protocol/index.ts";
import {
  TaskFamilyFilter,
  type TrafficLine,
  TrafficModel,
  type TrafficTask,
} from "../../../observe/trace/index.ts";
import { getConsoleUser } from "../source/traffic-source.ts";
import { createFrameScheduler } from "../parts/frame-scheduler.ts";
import { TaskHistory } from "./task-history.ts";

/** How often the page reads a task from an agent whose log the record does not contain, in milliseconds. */
const SNAPSHOT_INTERVAL_MS = 2_000;

/** Everything that the page knows about a task. `version` changes with each batch of lines. */
export interface TaskRecord {
  readonly agentId: string;
  readonly taskId: string;
  readonly model: TrafficModel;
  readonly history: TaskHistory;
  readonly version: ReadonlySignal<number>;
  readonly loading: ReadonlySignal<"loading" | "complete" | { readonly error: unknown }>;
  /** The task as the agent sent it last. */
  readonly snapshot: ReadonlySignal<Task | undefined>;
  /** The lines of the task, or `undefined` before the first line. */
  findTask(): TrafficTask | undefined;
  addLines(lines: readonly TrafficLine[]): void;
  refreshSnapshot(): Promise<void>;
}

/** Loads a task and follows its new lines while the component is mounted. */
export function useTaskRecord(agentId: string, taskId: string): TaskRecord {
  const page = usePageState();
  const opened = useMemo(() => openTaskRecord(page, agentId, taskId), [page, agentId, taskId]);
  useEffect(() => opened.start(), [opened]);
  return opened.record;
}

interface OpenedTaskRecord {
  readonly record: TaskRecord;
  start(): () => void;
}

function openTaskRecord(page: PageState, agentId: string, taskId: string): OpenedTaskRecord {
  const model = new TrafficModel(undefined, getConsoleUser(page.source));
  const history = new TaskHistory();
  const version = signal(0);
  const loading = signal<"loading" | "complete" | { readonly error: unknown }>("loading");
  const snapshot = signal<Task | undefined>(undefined);
  const stopped = new AbortController();
  const family = new TaskFamilyFilter(taskId);
  let snapshotTimer: ReturnType<typeof setTimeout> | undefined;

  const scheduleRender = createFrameScheduler(() => {
    version.value += 1;
  });
  const findTask = (): TrafficTask | undefined => model.findTask(taskId);
  const addLines = (lines: readonly TrafficLine[]): void => {
    const relevant = lines.filter((line) => isShownLine(line, family));
    if (relevant.length === 0) return;
    for (const line of relevant) {
      model.add(line);
      // Every line with an event states its task.
      if ("task_id" in line && line.task_id === taskId) history.addLine(line);
    }
    scheduleRender();
    if (history.lastSeq === 0 || !history.isComplete) scheduleSnapshot();
  };
  const refreshSnapshot = async (): Promise<void> => {
    const task = await page.source.readTask(agentId, taskId);
    if (!stopped.signal.aborted) snapshot.value = task;
  };
  const scheduleSnapshot = (): void => {
    snapshotTimer ??= setTimeout(() => {
      snapshotTimer = undefined;
      // The lines remain visible if the agent no longer has the task.
      refreshSnapshot().catch(() => undefined);
    }, SNAPSHOT_INTERVAL_MS);
  };
  const load = async (): Promise<void> => {
    const problems: unknown[] = [];
    const noteProblem = (error: unknown): void => void problems.push(error);
    // The event log of the own server contains the whole task, and a snapshot would repeat it.
    const isLogComplete = page.findAgent(agentId)?.isOwn === true;
    const reading = isLogComplete ? undefined : refreshSnapshot().catch(noteProblem);
    try {
      for await (const lines of page.source.readLines(agentId, taskId, stopped.signal)) addLines(lines);
    } catch (error) {
      noteProblem(error);
    }
    await (isLogComplete && history.lastSeq === 0 ? refreshSnapshot().catch(noteProblem) : reading);
    // A record can contain requests for a task that does not exist.
    const isUnknown = snapshot.value === undefined && history.lastSeq === 0;
    batch(() => {
      loading.value = isUnknown && problems.length > 0 ? { error: problems[0] } : "complete";
      // The scheduler may be in the pause after a slow frame, and the complete task must not wait for its end.
      version.value += 1;
    });
  };
  return {
    record: {
      agentId,
      taskId,
      model,
      history,
      version,
      loading,
      snapshot,
      findTask,
      addLines,
      refreshSnapshot,
    },
    start() {
      // The model needs the lines of each writer in their order, so that live lines wait for the earlier lines.
      let waitingLines: (readonly TrafficLine[])[] | undefined = [];
      const stopWatching = page.subscribeToLines((lines) => {
        if (waitingLines === undefined) addLines(lines);
        else waitingLines.push(lines);
      });
      const loadAndContinue = async (): Promise<void> => {
        await load();
        for (const lines of waitingLines ?? []) addLines(lines);
        waitingLines = undefined;
      };
      void loadAndContinue();
      return () => {
        stopped.abort();
        clearTimeout(snapshotTimer);
        stopWatching();
      };
    },
  };
}

/** Lines without a task id are kept, because a request names its task only after the response. */
function isShownLine(line: TrafficLine, family: TaskFamilyFilter): boolean {
  const { kind } = line;
  if (kind === "writer" || kind === "loss") return true;
  if (kind === "agent") return false;
  const taskId = "task_id" in line ? line.task_id : undefined;
  const callKey = "call" in line ? `${line.writer} ${line.call}` : undefined;
  const parent = "parent" in line ? line.parent : undefined;
  return (
    family.includes({ kind, callKey, taskId, parent }) || (taskId === undefined && callKey !== undefined)
  );
}
