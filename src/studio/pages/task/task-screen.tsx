import type { ComponentChildren, VNode } from "preact";
import { useHotkeys } from "../app/hotkeys.ts";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { chatDraft } from "../chat/chat-draft.ts";
import { useCopyHotkeys } from "../parts/copy-text.ts";
import { FailureNotice, Notice } from "../parts/notice.tsx";
import { isInterrupted, type Task, type TaskState } from "../../../protocol/index.ts";
import type { TimelineEntry, TrafficModel, TrafficTask } from "../../../observe/trace/index.ts";
import { AnswerForm } from "./answer-form.tsx";
import { ContentView } from "./content-view.tsx";
import { EntryInspector } from "./entry-inspector.tsx";
import { ReadersView } from "./readers-view.tsx";
import { TaskHeader } from "./task-header.tsx";
import { type TaskRecord, useTaskRecord } from "./task-record.ts";
import { formatEntryKey, listTimelineEntries } from "./timeline-filter.ts";
import { TimelineView } from "./timeline-view.tsx";
import { type TaskActions, useTaskActions } from "./use-task-actions.ts";
import { ViewTabs } from "../parts/view-tabs.tsx";
import { WireView } from "./wire-view.tsx";
import { formatJson } from "../parts/json-text.ts";

const TASK_VIEWS = ["timeline", "content", "wire"] as const;
type TaskView = (typeof TASK_VIEWS)[number];
const VIEW_TITLES: Readonly<Record<TaskView, string>> = {
  timeline: "Timeline",
  content: "Messages and artifacts",
  wire: "Wire",
};

/** A task: its timeline, its content, and its requests. The route is `#/task/AGENT/TASK?view=…&entry=…&seq=…`. */
export function TaskScreen(): VNode {
  const { route } = usePageState();
  const [agentId, taskId] = route.value.segments;
  if (agentId === undefined || taskId === undefined)
    return (
      <WithoutTask>
        <Notice tone="idle" title="No task is selected">
          <a href={formatRoute("tasks")}>Choose a task.</a>
        </Notice>
      </WithoutTask>
    );
  return <OpenedTask key={`${agentId}/${taskId}`} agentId={agentId} taskId={taskId} />;
}

/** The screen before a task is known. Each screen has a heading, which screen readers jump to. */
function WithoutTask({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <>
      <h1 class="screen-reader-only">Task</h1>
      {children}
    </>
  );
}

function OpenedTask({ agentId, taskId }: { readonly agentId: string; readonly taskId: string }): VNode {
  const page = usePageState();
  const record = useTaskRecord(agentId, taskId);
  const actions = useTaskActions(record);
  const { version, loading } = record;
  const { params } = page.route.value;
  const view = TASK_VIEWS.find((name) => name === params["view"]) ?? "timeline";
  const currentVersion = version.value;
  const traffic = record.findTask();
  const latest = buildLatestTask(record);
  const entryKey = params["entry"];
  const selected =
    entryKey &&
    traffic &&
    listTimelineEntries(record.model, traffic).find((entry) => formatEntryKey(entry) === entryKey);
  const copied = selected ? selected.line : latest;

  useCopyHotkeys(
    { name: "the task id", text: () => taskId },
    copied && {
      name: selected ? "the line as JSON" : "the task as JSON",
      text: () => formatJson(copied, 2),
    },
  );
  useHotkeys([
    ...TASK_VIEWS.map((name, index) => ({
      keys: String(index + 1),
      label: `Show ${VIEW_TITLES[name]}`,
      run: () => page.replaceParams({ view: name }),
    })),
    {
      keys: "s",
      label: "Subscribe to the task",
      run: () => actions?.subscribe(record.history.lastSeq || undefined),
    },
    { keys: "Escape", label: "Close the details", run: () => page.replaceParams({ entry: undefined }) },
    { keys: "u", label: "Back to the tasks", run: () => page.navigate("tasks") },
  ]);
  if (loading.value === "loading" && traffic === undefined && latest === undefined)
    return (
      <WithoutTask>
        <p class="empty" role="status">
          Loading the task …
        </p>
      </WithoutTask>
    );
  const failure = typeof loading.value === "object" && latest === undefined && (
    <FailureNotice
      title="The task cannot be read"
      error={loading.value.error}
      onRetry={() => location.reload()}
    />
  );
  if (failure !== false && traffic?.state === undefined) return <WithoutTask>{failure}</WithoutTask>;
  return (
    <div class="task-screen" data-testid="task" data-task-id={taskId} data-state={findState(latest, traffic)}>
      {failure}
      <TaskHeader
        record={record}
        version={currentVersion}
        task={latest}
        traffic={traffic}
        actions={actions}
      />
      {PAGE_SENDS_REQUESTS &&
        latest !== undefined &&
        isInterrupted(latest.status.state) &&
        actions !== undefined && (
          <AnswerForm task={latest} isSending={actions.pending !== undefined} onAnswer={actions.answer} />
        )}
      <ViewTabs
        label="Views of the task"
        controls="task-view"
        tabs={TASK_VIEWS.map((name) => [name, VIEW_TITLES[name]])}
        selected={view}
        onSelect={(name) => page.replaceParams({ view: name })}
      />
      <div id="task-view" class="task-view" role="tabpanel" aria-labelledby={`tab-${view}`} data-view={view}>
        {view === "timeline" && (
          <TimelinePanel
            record={record}
            traffic={traffic}
            selected={selected || undefined}
            version={currentVersion}
            actions={actions}
          />
        )}
        {view === "content" && (
          <ContentPanel record={record} latest={latest} version={currentVersion} actions={actions} />
        )}
        {view === "wire" && traffic !== undefined && (
          <WireView model={record.model} task={traffic} version={currentVersion} />
        )}
      </div>
    </div>
  );
}

/** The task after its last event, or as the agent sent it, if the record does not contain all events. */
function buildLatestTask({ history, snapshot }: TaskRecord): Task | undefined {
  const { lastSeq, isComplete } = history;
  const sent = snapshot.value;
  return lastSeq > 0 && (isComplete || sent === undefined) ? history.buildTaskAt(lastSeq) : sent;
}

function findState(task: Task | undefined, traffic: TrafficTask | undefined): TaskState | undefined {
  return task?.status.state ?? (traffic?.state as TaskState | undefined);
}

interface PanelProps {
  readonly record: TaskRecord;
  readonly actions: TaskActions | undefined;
}

function TimelinePanel(
  props: PanelProps & {
    readonly traffic: TrafficTask | undefined;
    readonly selected: TimelineEntry | undefined;
    readonly version: number;
  },
): VNode {
  const { record, traffic, selected, version, actions } = props;
  const page = usePageState();
  if (traffic === undefined)
    return (
      <p class="empty">The record contains no lines of this task. Subscribe to the task to see its events.</p>
    );
  return (
    <div class="timeline-panel" data-inspecting={selected === undefined ? undefined : ""}>
      <div class="timeline-column">
        <TimelineView
          model={record.model}
          task={traffic}
          version={version}
          selected={selected}
          isFollowing
          onSelect={(entry: TimelineEntry) => page.replaceParams({ entry: formatEntryKey(entry) })}
          onOpen={focusInspector}
        />
        <ReadersView task={traffic} version={version} />
      </div>
      {selected !== undefined && (
        <EntryInspector
          entry={selected}
          model={record.model}
          task={traffic}
          otherTask={findOtherTask(record.model, traffic, selected)}
          version={version}
          onClose={() => page.replaceParams({ entry: undefined })}
          onShowTaskAt={
            record.history.lastSeq > 0 ? (seq) => page.replaceParams({ view: "content", seq }) : undefined
          }
          onReplayAfter={
            !PAGE_SENDS_REQUESTS || actions === undefined ? undefined : (seq) => actions.subscribe(seq)
          }
        />
      )}
    </div>
  );
}

/** Finds the task of another agent to which a line of the timeline belongs. */
function findOtherTask(
  model: TrafficModel,
  task: TrafficTask,
  { line }: TimelineEntry,
): TrafficTask | undefined {
  const { taskKey = task.key } =
    "call" in line ? (model.findExchange(`${line.writer}/${line.call}`) ?? {}) : {};
  return taskKey === task.key ? undefined : model.tasks.get(taskKey);
}

/** Moves the focus after the details are rendered. */
function focusInspector(): void {
  setTimeout(() => document.getElementById("inspector")?.focus());
}

function ContentPanel(
  props: PanelProps & { readonly latest: Task | undefined; readonly version: number },
): VNode {
  const { record, latest, version, actions } = props;
  const page = usePageState();
  const { history, agentId, taskId } = record;
  const seq = Number(page.route.value.params["seq"]);
  const shownSeq = Number.isSafeInteger(seq) && seq > 0 && seq < history.lastSeq ? seq : undefined;
  const task = shownSeq === undefined ? latest : history.buildTaskAt(shownSeq);
  return (
    <ContentView
      task={task}
      model={record.model}
      agentName={page.findAgent(agentId)?.name ?? agentId}
      version={shownSeq === undefined ? version : -shownSeq}
      lastSeq={history.lastSeq}
      shownSeq={shownSeq}
      onShowSeq={(next) => page.replaceParams({ seq: next })}
      onEditMessage={
        !PAGE_SENDS_REQUESTS || actions === undefined
          ? undefined
          : ({ parts, contextId = task?.contextId }) => {
              chatDraft.value = { agentId, parts, contextId, referenceTaskIds: [taskId] };
              page.navigate("chat", [agentId]);
            }
      }
    />
  );
}
