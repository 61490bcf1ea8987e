import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { isTerminal } from "../../../protocol/index.ts";
import { formatCount, formatDuration } from "../cards/text-format.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { toSingleLine } from "../../../cards/index.ts";
import { formatPrice } from "../../../observe/trace/index.ts";
import type { ConsoleTaskSummary } from "../../console-api/index.ts";
import { shortenId } from "../parts/identifier.tsx";
import { useCopyHotkeys } from "../parts/copy-text.ts";
import { FailureNotice, Notice } from "../parts/notice.tsx";
import { TaskStateBadge } from "../parts/task-state-badge.tsx";
import { formatAge, formatDateTime } from "../parts/time-format.ts";
import { useMediaQuery } from "../parts/use-media-query.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { hasFilter, toTaskQuery } from "./task-filter.ts";
import { TaskFilterForm } from "./task-filter-form.tsx";
import { formatTaskKey } from "./task-pages.ts";
import { type LiveTaskList, useTaskList } from "./use-task-list.ts";
import { formatJson } from "../parts/json-text.ts";

const ROW_HEIGHT = 44;
const PHONE_ROW_HEIGHT = 68;

/** The tasks of all agents, newest first. */
export function TasksScreen(): VNode {
  const page = usePageState();
  const filter = page.route.value.params;
  const list = useTaskList(toTaskQuery(filter));
  const [selectedKey, setSelectedKey] = useState<string>();
  const isPhone = useMediaQuery("(max-width: 640px)");
  const nowMs = useCurrentTime();
  const selectedIndex = list.rows.findIndex((row) => formatTaskKey(row) === selectedKey);
  const selectedRow = list.rows[selectedIndex];
  useCopyHotkeys(
    selectedRow && { name: "the task id", text: () => selectedRow.id },
    selectedRow && { name: "the row as JSON", text: () => formatJson(selectedRow, 2) },
  );
  return (
    <div class="tasks-screen">
      <h1 class="screen-reader-only">Tasks</h1>
      <TaskFilterForm
        filter={filter}
        isTextSearchable={list.isTextSearchable}
        onChange={(change) => page.replaceParams(change)}
      />
      {list.problems.map(({ agent, message }) => (
        <Notice
          key={agent}
          tone="warn"
          title={`Tasks of ${page.findAgent(agent)?.name ?? agent} are incomplete`}
        >
          <AgentText text={message} />
        </Notice>
      ))}
      {typeof list.status === "object" && (
        <FailureNotice title="The tasks cannot be listed" error={list.status.error} onRetry={list.reload} />
      )}
      <p class="list-summary soft" role="status">
        {formatSummary(list)}
      </p>
      {list.rows.length === 0 && list.status === "ready" && <EmptyTaskList isFiltered={hasFilter(filter)} />}
      {list.rows.length > 0 && (
        <div class="task-row task-heads soft" aria-hidden="true">
          <span>State</span>
          <span>Message</span>
          <span>Agent</span>
          <span class="task-ids">Task</span>
          <span class="task-events">Events</span>
          <span class="task-tokens">Tokens</span>
          <span class="task-cost">Cost</span>
          <span class="task-duration">Duration</span>
          <span class="task-age">Age</span>
        </div>
      )}
      {list.rows.length > 0 && (
        <VirtualList
          label="Tasks"
          count={list.rows.length}
          rowHeight={isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT}
          selectedIndex={selectedIndex < 0 ? undefined : selectedIndex}
          getRowKey={(index) => (list.rows[index] === undefined ? "" : formatTaskKey(list.rows[index]))}
          getRowAttributes={(index) => ({
            "data-testid": "task-row",
            "data-task-id": list.rows[index]?.id ?? "",
            "data-state": list.rows[index]?.state ?? "",
          })}
          onSelect={(index) => {
            const row = list.rows[index];
            if (row !== undefined) setSelectedKey(formatTaskKey(row));
          }}
          onOpen={(index) => {
            const row = list.rows[index];
            if (row !== undefined) page.navigate("task", [row.agent, row.id]);
          }}
          getRowHref={(index) => {
            const row = list.rows[index];
            return row === undefined ? formatRoute("tasks") : formatRoute("task", [row.agent, row.id]);
          }}
          onEndReached={list.loadMore}
          renderRow={(index) => {
            const row = list.rows[index];
            return row === undefined ? <span /> : <TaskRow row={row} nowMs={nowMs} />;
          }}
        />
      )}
    </div>
  );
}

function TaskRow({ row, nowMs }: { readonly row: ConsoleTaskSummary; readonly nowMs: number }): VNode {
  const { findAgent } = usePageState();
  const { agent, id, state, preview, createdAt, updatedAt, events, usage, caller, contextId } = row;
  return (
    <div class="task-row">
      <TaskStateBadge state={state} />
      <bdi class="task-preview">{toSingleLine(preview) || "no text"}</bdi>
      <span class="task-agent">
        <AgentText text={findAgent(agent)?.name ?? agent} />
      </span>
      {caller !== undefined && (
        <span class="soft task-caller" title="Caller">
          <AgentText text={caller} />
        </span>
      )}
      <code class="soft task-ids" title={toSingleLine(`task ${id}, context ${contextId}`)}>
        <AgentText text={shortenId(id)} />
      </code>
      <span class="soft task-events">{events === undefined ? "" : formatCount(events)}</span>
      <span class="soft task-tokens" title="Tokens of the observed model calls">
        {usage === undefined ? "" : formatCount(usage.inputTokens + usage.outputTokens)}
      </span>
      <span class="soft task-cost" title="Cost of the observed model calls">
        {usage === undefined ? "" : formatPrice(usage)}
      </span>
      <span class="soft task-duration" title="Time from the first message to the end">
        {createdAt !== undefined && isTerminal(state)
          ? formatDuration(Date.parse(updatedAt) - Date.parse(createdAt))
          : ""}
      </span>
      <time class="soft task-age" dateTime={updatedAt} title={formatDateTime(updatedAt)}>
        {formatAge(updatedAt, nowMs)}
      </time>
    </div>
  );
}

function EmptyTaskList({ isFiltered }: { readonly isFiltered: boolean }): VNode {
  const page = usePageState();
  if (isFiltered)
    return (
      <Notice tone="idle" title="No task matches the filters">
        <a class="button" href={formatRoute("tasks")}>
          Clear the filters
        </a>
      </Notice>
    );
  const { actions, session } = page.source;
  return (
    <Notice tone="idle" title="There are no tasks yet">
      {actions !== undefined && session.canAct && (
        <a class="button" href={formatRoute("chat")}>
          Send a message to an agent
        </a>
      )}
    </Notice>
  );
}

function formatSummary({ rows, hasMore, status }: LiveTaskList): string {
  if (status === "loading") return "Loading the tasks …";
  const noun = rows.length === 1 ? "task" : "tasks";
  return hasMore ? `${rows.length} ${noun}, and more` : `${rows.length} ${noun}`;
}

/** Returns the current time, which advances every five seconds. */
function useCurrentTime(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 5_000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
