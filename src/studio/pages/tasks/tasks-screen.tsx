import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { isTerminal } from "../../../protocol/index.ts";
import { formatCount, formatTaskDuration, pluralize } from "../cards/text-format.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { toSingleLine } from "../../../cards/index.ts";
import { formatPrice } from "../../../observe/trace/index.ts";
import { shortenId } from "../parts/identifier.tsx";
import { useCopyHotkeys } from "../parts/copy-text.ts";
import { FailureNotice, Notice } from "../parts/notice.tsx";
import { TaskStateBadge } from "../parts/task-state-badge.tsx";
import { formatAge, formatDateTime, useCurrentTime } from "../parts/time-format.ts";
import { useMediaQuery } from "../parts/use-media-query.ts";
import { explainMissingPrice, TokenCount } from "../parts/token-count.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { hasFilter, toTaskQuery } from "./task-filter.ts";
import { TaskFilterForm } from "./task-filter-form.tsx";
import { formatTaskKey, type NestedTaskRow, nestTaskRows } from "./task-pages.ts";
import { type LiveTaskList, useTaskList } from "./use-task-list.ts";
import { formatJson } from "../parts/json-text.ts";

const ROW_HEIGHT = 44;
const PHONE_ROW_HEIGHT = 68;
/** Deeper tasks have the indentation of this level. */
const MAX_INDENT_LEVELS = 8;

/** The tasks of all agents, newest first. */
export function TasksScreen(): VNode {
  const page = usePageState();
  const filter = page.route.value.params;
  const { rows: listed, ...list } = useTaskList(toTaskQuery(filter));
  const rows = useMemo(() => nestTaskRows(listed), [listed]);
  const [selectedKey, setSelectedKey] = useState<string>();
  const missingPrice = listed.map(({ usage }) => (usage ? explainMissingPrice(usage) : "")).find(Boolean);
  const hasCaller = listed.some(({ caller, parent }) => caller ?? parent?.agent);
  const hasCost = listed.some(({ usage }) => usage && formatPrice(usage) !== "");
  const isPhone = useMediaQuery("(max-width: 640px)");
  const nowMs = useCurrentTime();
  const selectedIndex = rows.findIndex(({ row }) => formatTaskKey(row) === selectedKey);
  const selectedRow = rows[selectedIndex]?.row;
  useCopyHotkeys(
    selectedRow && { name: "the task id", text: () => selectedRow.id },
    selectedRow && { name: "the row as JSON", text: () => formatJson(selectedRow, 2) },
  );
  return (
    <div
      class="tasks-screen"
      data-has-cost={hasCost ? "" : undefined}
      data-has-caller={hasCaller ? "" : undefined}
    >
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
        {formatSummary(listed.length, list)}
        {missingPrice !== undefined && ` · ${missingPrice}`}
      </p>
      {rows.length === 0 && list.status === "ready" && <EmptyTaskList isFiltered={hasFilter(filter)} />}
      {rows.length > 0 && (
        <div class="task-row task-heads soft" aria-hidden="true">
          <span>State</span>
          <span>Message</span>
          <span>Agent</span>
          <span class="task-caller">{hasCaller && "Caller"}</span>
          <span class="task-ids">Task</span>
          <span class="task-events">Events</span>
          <span class="task-tokens">Tokens</span>
          {hasCost && <span class="task-cost">Cost</span>}
          <span class="task-duration">Duration</span>
          <span class="task-age">Age</span>
        </div>
      )}
      {rows.length > 0 && (
        <VirtualList
          label="Tasks"
          count={rows.length}
          rowHeight={isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT}
          selectedIndex={selectedIndex < 0 ? undefined : selectedIndex}
          getRowKey={(index) => (rows[index] === undefined ? "" : formatTaskKey(rows[index].row))}
          getRowAttributes={(index) => ({
            "data-testid": "task-row",
            "data-task-id": rows[index]?.row.id ?? "",
            "data-state": rows[index]?.row.state ?? "",
          })}
          onSelect={(index) => {
            const row = rows[index]?.row;
            if (row !== undefined) setSelectedKey(formatTaskKey(row));
          }}
          onOpen={(index) => {
            const row = rows[index]?.row;
            if (row !== undefined) page.navigate("task", [row.agent, row.id]);
          }}
          getRowHref={(index) => {
            const row = rows[index]?.row;
            return row === undefined ? formatRoute("tasks") : formatRoute("task", [row.agent, row.id]);
          }}
          onEndReached={list.loadMore}
          renderRow={(index) => {
            const nested = rows[index];
            return nested === undefined ? <span /> : <TaskRow {...nested} nowMs={nowMs} />;
          }}
        />
      )}
    </div>
  );
}

function TaskRow({
  row,
  depth,
  parent,
  totalUsage,
  nowMs,
}: NestedTaskRow & { readonly nowMs: number }): VNode {
  const { findAgent } = usePageState();
  const { agent, id, state, preview, createdAt, updatedAt, events, usage, contextId, isReply } = row;
  const caller = (parent && findAgent(parent.agent)?.name) ?? row.parent?.agent ?? row.caller ?? "";
  const cost = totalUsage ? formatPrice(totalUsage) : "";
  const scope = totalUsage?.calls === usage?.calls ? "" : " (the task and the tasks that it started)";
  const endMs = isTerminal(state) ? Date.parse(updatedAt) : nowMs;
  const durationMs = createdAt === undefined ? undefined : Math.max(0, endMs - Date.parse(createdAt));
  return (
    <div class="task-row">
      <TaskStateBadge state={state} />
      <bdi class="task-preview" style={{ paddingLeft: `${Math.min(depth, MAX_INDENT_LEVELS)}em` }}>
        {depth > 0 && "↳ "}
        {isReply === true && <span class="soft">reply: </span>}
        {toSingleLine(preview) || "no text"}
      </bdi>
      <span class="task-agent">
        <AgentText text={findAgent(agent)?.name ?? agent} />
      </span>
      <span class="soft task-caller" title="Caller">
        <AgentText text={caller} />
      </span>
      <code class="soft task-ids" title={toSingleLine(`task ${id}, context ${contextId}`)}>
        <AgentText text={shortenId(id)} />
      </code>
      <span class="soft task-events" title="Events in the log of the task, with the messages of the user">
        {events === undefined ? "" : formatCount(events)}
      </span>
      <span class="soft task-tokens">{totalUsage && <TokenCount usage={totalUsage} scope={scope} />}</span>
      {cost !== "" && (
        <span class="soft task-cost" title={`Cost of the observed model calls${scope}`}>
          {cost}
        </span>
      )}
      <span class="soft task-duration" title="Time from the first message to the end, or until now">
        {durationMs !== undefined && `${isTerminal(state) ? "" : "for "}${formatTaskDuration(durationMs)}`}
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

function formatSummary(count: number, { hasMore, status }: Pick<LiveTaskList, "hasMore" | "status">): string {
  if (status === "loading") return "Loading the tasks …";
  if (typeof status === "object") return count === 0 ? "" : "These tasks were loaded earlier";
  return `${pluralize(count, "task")}${hasMore ? ", and more" : ""}`;
}
