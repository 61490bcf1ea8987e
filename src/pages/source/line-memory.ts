import type { ConsoleAgent, ConsoleCardReport, ConsoleTaskList, ConsoleTaskQuery, ConsoleTaskSummary } from "../../console/api-types.ts";
import {
  fold,
  getEventTaskId,
  getText,
  type Part,
  type StreamResponse,
  type Task,
  type AgentCard,
} from "../../protocol/index.ts";
import type { AgentLine, TrafficLine } from "../../trace/index.ts";
import { TrafficSourceError } from "./traffic-source.ts";

const PAGE_SIZE = 50;
const PREVIEW_LENGTH = 200;
const UNKNOWN_AGENT = "unknown";

interface RecordedTask {
  readonly id: string;
  agent: string;
  readonly lines: TrafficLine[];
  createdAt: string;
  updatedAt: string;
  task: Task | undefined;
  lastLogSeq: number;
}

/** The lines of a record, indexed by task. Appending a line takes constant time. */
export class LineMemory {
  readonly #tasks = new Map<string, RecordedTask>();
  readonly #taskIdsByCall = new Map<string, string>();
  readonly #pendingByCall = new Map<string, TrafficLine[]>();
  readonly #agentLines = new Map<string, AgentLine>();

  clear(): void {
    for (const index of [this.#tasks, this.#taskIdsByCall, this.#pendingByCall, this.#agentLines]) index.clear();
  }

  append(lines: readonly TrafficLine[]): void {
    for (const line of lines) this.#appendLine(line);
  }

  #appendLine(line: TrafficLine): void {
    if (line.kind === "agent") this.#agentLines.set(line.agent, line);
    const call = "call" in line && line.call !== undefined ? `${line.writer} ${line.call}` : undefined;
    const taskId = findTaskId(line) ?? (call === undefined ? undefined : this.#taskIdsByCall.get(call));
    if (taskId === undefined) {
      // A request that creates a task names the task only in its response.
      if (call !== undefined) {
        const pending = this.#pendingByCall.get(call);
        if (pending === undefined) this.#pendingByCall.set(call, [line]);
        else pending.push(line);
      }
      return;
    }
    const recorded = this.#openTask(taskId, line);
    if (call !== undefined) {
      this.#taskIdsByCall.set(call, taskId);
      recorded.lines.push(...(this.#pendingByCall.get(call) ?? []));
      this.#pendingByCall.delete(call);
    }
    recorded.lines.push(line);
    recorded.updatedAt = line.at;
    const agent = findAgentName(line);
    if (recorded.agent === UNKNOWN_AGENT && agent !== undefined) recorded.agent = agent;
    applyLine(recorded, line);
  }

  #openTask(id: string, { at }: TrafficLine): RecordedTask {
    const found = this.#tasks.get(id);
    if (found !== undefined) return found;
    const created: RecordedTask = {
      id,
      agent: UNKNOWN_AGENT,
      lines: [],
      createdAt: at,
      updatedAt: at,
      task: undefined,
      lastLogSeq: 0,
    };
    this.#tasks.set(id, created);
    return created;
  }

  listTaskLines(taskId: string): readonly TrafficLine[] {
    return this.#tasks.get(taskId)?.lines ?? [];
  }

  buildTask(taskId: string): Task | undefined {
    return this.#tasks.get(taskId)?.task;
  }

  listAgents(): ConsoleAgent[] {
    const names = new Set([...this.#agentLines.keys(), ...[...this.#tasks.values()].map(({ agent }) => agent)]);
    return [...names].toSorted().map((name) => createRecordedAgent(name, this.#agentLines.get(name)));
  }

  readCard(agentId: string): ConsoleCardReport {
    const line = this.#agentLines.get(agentId);
    if (line === undefined)
      throw new TrafficSourceError("NOT_FOUND", `The record contains no card of the agent ${agentId}.`);
    return {
      card: line.card,
      cardUrl: line.url,
      problems: [],
      signature: { status: "unverified", keyIds: [], detail: "A record is not verified." },
      observed: [],
    };
  }

  listTasks(query: ConsoleTaskQuery): ConsoleTaskList {
    const { pageSize = PAGE_SIZE, pageToken = "0" } = query;
    const found = [...this.#tasks.values()]
      .filter((recorded) => matchesQuery(recorded, query))
      .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
    const start = Number(pageToken);
    const end = start + pageSize;
    return {
      tasks: found.slice(start, end).map(summarize),
      ...(end < found.length ? { nextPageToken: String(end) } : {}),
      isTextSearchable: true,
      problems: [],
    };
  }
}

function findTaskId(line: TrafficLine): string | undefined {
  if ("task_id" in line && line.task_id !== undefined) return line.task_id;
  const event = findEvent(line);
  return event === undefined ? undefined : getEventTaskId(event);
}

function findAgentName(line: TrafficLine): string | undefined {
  if (line.kind === "request") return line.to;
  return "agent" in line ? line.agent : undefined;
}

function findEvent(line: TrafficLine): StreamResponse | undefined {
  const event = line.kind === "event" || line.kind === "frame" ? line.event : undefined;
  return event as StreamResponse | undefined;
}

/** Applies an event once. The same event can be recorded by the server, the client, and several readers. */
function applyLine(recorded: RecordedTask, line: TrafficLine): void {
  const event = findEvent(line);
  if (event === undefined) return;
  const seq = "log_seq" in line ? line.log_seq : undefined;
  if (seq !== undefined && seq <= recorded.lastLogSeq) return;
  if (seq !== undefined) recorded.lastLogSeq = seq;
  if ("task" in event) recorded.task = structuredClone(event.task);
  else if (recorded.task !== undefined) recorded.task = fold(recorded.task, event) ?? recorded.task;
}

function matchesQuery({ agent, updatedAt, task }: RecordedTask, query: ConsoleTaskQuery): boolean {
  if (query.agent !== undefined && query.agent !== agent) return false;
  if (query.state !== undefined && query.state !== task?.status.state) return false;
  if (query.context !== undefined && query.context !== task?.contextId) return false;
  if (query.from !== undefined && updatedAt < query.from) return false;
  if (query.to !== undefined && updatedAt > query.to) return false;
  if (query.text === undefined || query.text === "") return true;
  return JSON.stringify(task ?? {}).toLowerCase().includes(query.text.toLowerCase());
}

function summarize({ agent, id, createdAt, updatedAt, task, lines }: RecordedTask): ConsoleTaskSummary {
  return {
    agent,
    id,
    contextId: task?.contextId ?? "",
    state: task?.status.state ?? "TASK_STATE_UNSPECIFIED",
    createdAt,
    updatedAt,
    events: lines.length,
    preview: findPreviewText(task).slice(0, PREVIEW_LENGTH),
  };
}

function findPreviewText(task: Task | undefined): string {
  const parts: readonly Part[][] = [
    task?.artifacts?.at(-1)?.parts ?? [],
    task?.status.message?.parts ?? [],
    task?.history?.at(-1)?.parts ?? [],
  ];
  return parts.map((part) => getText(part)).find((text) => text !== "") ?? "";
}

function createRecordedAgent(name: string, line: AgentLine | undefined): ConsoleAgent {
  const card = line?.card as Partial<AgentCard> | undefined;
  const interfaces = card?.supportedInterfaces ?? [];
  return {
    id: name,
    name,
    ...(line === undefined ? {} : { url: line.url }),
    status: "connected",
    isOwn: false,
    isRecorded: true,
    bindings: interfaces.map(({ protocolBinding }) => protocolBinding),
    versions: [...new Set(interfaces.map(({ protocolVersion }) => protocolVersion))],
    ...(card?.description === undefined ? {} : { description: card.description }),
    skills: card?.skills ?? [],
    capabilities: {
      streaming: card?.capabilities?.streaming ?? false,
      pushNotifications: card?.capabilities?.pushNotifications ?? false,
      listsTasks: true,
      resumesAfterEvent: true,
    },
    signIn: [],
    credentials: [],
  };
}
