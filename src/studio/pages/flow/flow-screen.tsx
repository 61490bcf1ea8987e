import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ViewTabs } from "../parts/view-tabs.tsx";
import { useHotkeys } from "../app/hotkeys.ts";
import { usePageState } from "../app/page-state.ts";
import { formatCount, formatTaskDuration, pluralize } from "../cards/text-format.ts";
import { Notice } from "../parts/notice.tsx";
import { TokenCount } from "../parts/token-count.tsx";
import { useMediaQuery } from "../parts/use-media-query.ts";
import {
  addUsage,
  countMarks,
  getTaskDuration,
  NO_USAGE,
  type TrafficTask,
  UNOBSERVED_TASK,
} from "../../../observe/trace/index.ts";
import { analyzeFlow, type FlowAnalysis } from "./analyze-flow.ts";
import { FlowInspector } from "./flow-inspector.tsx";
import { GraphDiagram } from "./graph-diagram.tsx";
import { LabeledValue } from "./labeled-value.tsx";
import { PathView } from "./path-view.tsx";
import { SequenceDiagram } from "./sequence-diagram.tsx";
import { TaskPicker } from "./task-picker.tsx";
import { TimelineDiagram } from "./timeline-diagram.tsx";
import { getTrafficFeed, useLoadedTask } from "./traffic-feed.ts";
import {
  drawTrafficGraph,
  drawTrafficSequence,
  drawTrafficTimeline,
  listUsage,
  MAX_TIMELINE_TASKS,
} from "./traffic-drawings.ts";

const FLOW_VIEWS = [
  ["sequence", "Sequence"],
  ["path", "Path and cost"],
  ["graph", "Graph"],
  ["timeline", "Timeline"],
] as const;
type FlowViewName = (typeof FLOW_VIEWS)[number][0];

/** The screen Flow: who called whom, when, at what cost, and what the callers waited for. */
export function FlowScreen(): VNode {
  const state = usePageState();
  const { route, connection, announcement } = state;
  const feed = useMemo(() => getTrafficFeed(state), [state]);
  useEffect(() => () => feed.release(), [feed]);
  useLoadedTask(feed, state.route.value.segments[0], state.route.value.segments[1]);
  const snapshot = feed.snapshot.value;
  const { segments, params } = route.value;
  const [selectedKey, setSelectedKey] = useState<string>();
  const [isFollowing, setIsFollowing] = useState(true);
  const view = FLOW_VIEWS.find(([name]) => name === params["view"])?.[0] ?? "sequence";
  const flow = useMemo(() => analyzeFlow(snapshot.model, segments[1]), [snapshot, segments[1]]);
  const openTask = (task: TrafficTask | undefined): void => {
    setSelectedKey(undefined);
    state.navigate("flow", task ? [task.agent ?? "unknown", task.id] : [], { view: params["view"] });
  };
  const openView = (name: FlowViewName): void => {
    setSelectedKey(undefined);
    state.replaceParams({ view: name === "sequence" ? undefined : name });
  };
  useHotkeys([
    ...FLOW_VIEWS.map(([name, label], index) => ({
      keys: String(index + 1),
      label: `Show ${label.toLowerCase()}`,
      run: () => openView(name),
    })),
    { keys: "Escape", label: "Close the details", run: () => setSelectedKey(undefined) },
  ]);
  if (snapshot.model.tasks.size === 0 && snapshot.model.exchanges.length === 0)
    return (
      <div class="flow-screen" data-looks="empty">
        <h1>Flow</h1>
        <Notice tone="idle" title="No traffic yet">
          {connection.value.state === "ended"
            ? "This record contains no requests."
            : "Send a message in Chat. Each request, event, and call appears here."}
        </Notice>
      </div>
    );
  const selectAndAnnounce = (key: string): void => {
    setSelectedKey(key);
    announcement.value = "Details are shown.";
  };
  const drawingProps = { flow, selectedKey, onSelect: selectAndAnnounce };
  return (
    <div class="flow-screen" data-looks={selectedKey === undefined ? "flow" : "details"}>
      <div class="flow-head">
        <h1>Flow</h1>
        <TaskPicker
          label="Task"
          roots={flow.roots}
          task={flow.task}
          noneLabel={`All traffic, ${pluralize(flow.roots.length, "first task")}`}
          onPick={openTask}
        />
        <FlowFigures flow={flow} />
        {snapshot.droppedLines > 0 && (
          <Notice
            tone="warn"
            title={`The page dropped the oldest ${pluralize(snapshot.droppedLines, "line")}`}
          >
            Record the traffic with --record to keep all lines.
          </Notice>
        )}
        {view === "sequence" && connection.value.state !== "ended" && (
          <label class="follow">
            <input
              type="checkbox"
              checked={isFollowing}
              onChange={({ currentTarget }) => setIsFollowing(currentTarget.checked)}
            />{" "}
            Follow new messages
          </label>
        )}
      </div>
      <section class="flow-main" aria-label="Drawing">
        <ViewTabs label="Views" controls="picture" tabs={FLOW_VIEWS} selected={view} onSelect={openView} />
        <div id="picture" role="tabpanel" aria-labelledby={`tab-${view}`}>
          {view !== "path" && (view === "sequence" ? flow.exchanges : flow.tasks).length === 0 && (
            <Notice tone="idle" title={UNOBSERVED_TASK} />
          )}
          {view === "sequence" && <FlowSequence {...drawingProps} isFollowing={isFollowing} />}
          {view === "graph" && <FlowGraph {...drawingProps} />}
          {view === "timeline" && <FlowTimeline {...drawingProps} />}
          {view === "path" && <PathView flow={flow} onOpenTask={openTask} />}
        </div>
      </section>
      {selectedKey !== undefined && (
        <FlowInspector flow={flow} selectedKey={selectedKey} onClose={() => setSelectedKey(undefined)} />
      )}
    </div>
  );
}

function FlowFigures({ flow }: { readonly flow: FlowAnalysis }): VNode {
  const { model, task, tasks, exchanges } = flow;
  const usage = tasks.map((one) => one.usage).reduce(addUsage, NO_USAGE);
  const errors = exchanges.filter(({ hasFailed }) => hasFailed).length;
  const marks = tasks
    .flatMap((one) => Object.values(countMarks(model, one)))
    .reduce((sum, count) => sum + count, 0);
  return (
    <p class="card-facts">
      {task && <LabeledValue name="time" value={formatTaskDuration(getTaskDuration(task))} />}
      <LabeledValue name="tasks" value={formatCount(tasks.length)} />
      <LabeledValue name="requests" value={formatCount(exchanges.length)} />
      {usage.calls > 0 && <LabeledValue name="model calls" value={formatCount(usage.calls)} />}
      {listUsage(usage).length > 0 && (
        <LabeledValue
          name="spent by these tasks"
          value={<TokenCount usage={usage} text={listUsage(usage).join(" · ")} />}
        />
      )}
      {errors > 0 && <LabeledValue name="failed or cut requests" value={formatCount(errors)} />}
      {marks > 0 && <LabeledValue name="marks" value={formatCount(marks)} />}
    </p>
  );
}

interface FlowDrawingProps {
  readonly flow: FlowAnalysis;
  readonly selectedKey: string | undefined;
  readonly onSelect: (key: string) => void;
}

function FlowSequence(props: FlowDrawingProps & { readonly isFollowing: boolean }): VNode {
  const { flow, selectedKey, onSelect, isFollowing } = props;
  const drawing = useMemo(() => drawTrafficSequence(flow.model, flow.taskKeys, flow.path), [flow]);
  const moveSelection = (steps: number): void => {
    const at = drawing.messages.findIndex(({ key }) => key === selectedKey);
    const next = drawing.messages[at < 0 ? (steps > 0 ? 0 : drawing.messages.length - 1) : at + steps];
    if (next) onSelect(next.key);
  };
  useHotkeys([
    ...["j", "ArrowDown"].map((keys) => ({ keys, label: "Next message", run: () => moveSelection(1) })),
    ...["k", "ArrowUp"].map((keys) => ({ keys, label: "Previous message", run: () => moveSelection(-1) })),
  ]);
  return (
    <SequenceDiagram
      {...drawing}
      selectedKey={selectedKey}
      onSelect={onSelect}
      isFollowing={isFollowing}
      label="Sequence diagram; each message is a button"
    />
  );
}

function FlowGraph({ flow, selectedKey, onSelect }: FlowDrawingProps): VNode {
  const drawing = useMemo(() => drawTrafficGraph(flow.model, flow.taskKeys, flow.path), [flow]);
  const isNarrow = useMediaQuery("(max-width: 640px)");
  return (
    <GraphDiagram
      {...drawing}
      nodeWidth={190}
      nodeHeight={52}
      direction={isNarrow ? "down" : "right"}
      selectedKey={selectedKey}
      onSelect={onSelect}
      className="graph"
      label="Graph of agents, models, and tools"
    />
  );
}

function FlowTimeline({ flow, selectedKey, onSelect }: FlowDrawingProps): VNode {
  const drawing = useMemo(() => drawTrafficTimeline(flow.model, flow.tasks, flow.path), [flow]);
  return (
    <>
      {flow.tasks.length > MAX_TIMELINE_TASKS && (
        <p class="hint">
          The timeline shows {MAX_TIMELINE_TASKS} of {formatCount(flow.tasks.length)} tasks. Choose a task to
          see only its part.
        </p>
      )}
      <TimelineDiagram
        {...drawing}
        selectedKey={selectedKey}
        onSelect={onSelect}
        label="Timeline: a lane for each agent, a bar for each task and for what the task waited for"
      />
    </>
  );
}
