import type {
  ConsoleAgent,
  ConsoleCardReport,
  ConsoleTaskList,
  ConsoleTaskQuery,
} from "../../console-api/index.ts";
import { matchesTaskQuery, summarizeObservedTask } from "../../console-api/index.ts";
import type { AgentCard, Task } from "../../../protocol/index.ts";
import {
  listTaskFamily,
  type TimelineEntry,
  type TrafficAgent,
  type TrafficLine,
  TrafficModel,
  type TrafficTask,
} from "../../../observe/trace/index.ts";
import { describeLine } from "../task/describe-line.ts";
import { TaskHistory } from "../task/task-history.ts";
import { TrafficSourceError } from "./traffic-source.ts";

const PAGE_SIZE = 50;
const UNKNOWN_AGENT_ID = "unknown";

/** The lines of a record, as the API of a console would describe them. */
export class LineMemory {
  #model = new TrafficModel();

  clear(): void {
    this.#model = new TrafficModel();
  }

  append(lines: readonly TrafficLine[]): void {
    for (const line of lines) this.#model.add(line);
  }

  /** The lines of a task, and those of its requests to other agents, in the order of time. */
  listTaskLines(taskId: string): readonly TrafficLine[] {
    const task = this.#model.findTask(taskId);
    const family = task === undefined ? [] : listTaskFamily(this.#model, task);
    const entries = family
      .flatMap((one) => (one === task ? one.entries : one.entries.filter(isNoEvent)))
      .toSorted((a, b) => a.timeMs - b.timeMs);
    const writers = new Set(entries.map(({ line }) => line.writer));
    const writerLines = [...this.#model.writers.values()].flatMap(({ id, line }) =>
      line !== undefined && writers.has(id) ? [line] : [],
    );
    return [...writerLines, ...entries.map(({ line }) => line)];
  }

  /** The task after its last recorded event, or `undefined` if the record lacks its first event. */
  buildTask(taskId: string): Task | undefined {
    const history = new TaskHistory();
    for (const { line } of this.#model.findTask(taskId)?.entries ?? []) history.addLine(line);
    return history.buildTaskAt(history.lastSeq);
  }

  listAgents(): ConsoleAgent[] {
    const agents = [...this.#model.agents.values()].map(toRecordedAgent);
    const hasUnknown = [...this.#model.tasks.values()].some(({ agent }) => agent === undefined);
    if (hasUnknown) agents.push(toRecordedAgent({ name: UNKNOWN_AGENT_ID }));
    return agents.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  readCard(agentId: string): ConsoleCardReport {
    const agent = this.#model.agents.get(agentId);
    if (agent?.card === undefined)
      throw new TrafficSourceError("NOT_FOUND", `The record contains no card of the agent ${agentId}.`);
    return {
      card: agent.card,
      ...(agent.url === undefined ? {} : { cardUrl: agent.url }),
      problems: [],
      signature: { status: "unverified", keyIds: [], detail: "A record does not contain the keys." },
      observed: [],
    };
  }

  listTasks(query: ConsoleTaskQuery): ConsoleTaskList {
    const { pageSize = PAGE_SIZE, pageToken = "0", text = "" } = query;
    const found = [...this.#model.tasks.values()]
      .filter((task) => text === "" || containsText(task, text.toLowerCase()))
      .map((task) => summarizeObservedTask(task, task.agent ?? UNKNOWN_AGENT_ID, this.#model))
      .filter((task) => matchesTaskQuery(task, query))
      .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
    const start = Number(pageToken);
    const end = start + pageSize;
    return {
      tasks: found.slice(start, end),
      ...(end < found.length ? { nextPageToken: String(end) } : {}),
      isTextSearchable: true,
      problems: [],
    };
  }
}

function isNoEvent({ line: { kind } }: TimelineEntry): boolean {
  return kind !== "event" && kind !== "frame";
}

function containsText({ entries }: TrafficTask, text: string): boolean {
  return entries.some(({ line }) => describeLine(line).text.toLowerCase().includes(text));
}

function toRecordedAgent({ name, url, card: json }: TrafficAgent): ConsoleAgent {
  const card = json as Partial<AgentCard> | undefined;
  const interfaces = card?.supportedInterfaces ?? [];
  return {
    id: name,
    name,
    ...(url === undefined ? {} : { url }),
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
