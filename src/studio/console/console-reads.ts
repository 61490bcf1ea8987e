import { CONSOLE_USER_AGENT } from "../../observe/trace/index.ts";
import type { OperationName } from "../../protocol/index.ts";
import type { JournalEntry } from "./line-journal.ts";

/** Returns a `fetch` function that names the console in its requests, so that `ConsoleReadFilter` recognizes them. */
export function withConsoleUserAgent(fetchFunction: typeof fetch): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    headers.set("user-agent", CONSOLE_USER_AGENT);
    return fetchFunction(input, { ...init, headers });
  };
}

/** Operations with which pages read tasks, again and again. */
const READ_OPERATIONS: ReadonlySet<string> = new Set<OperationName>(["GetTask", "ListTasks"]);

/** Members of a line that the filter reads. */
interface FilteredLine {
  readonly kind: JournalEntry["kind"];
  readonly writer: string;
  readonly call?: string;
  readonly operation?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Recognizes the lines of a server about the reads of a console, which would hide the traffic of the agents. */
export class ConsoleReadFilter {
  readonly #openReads = new Set<string>();

  isConsoleRead({ kind, writer, call, operation = "", headers }: FilteredLine): boolean {
    if (call === undefined) return false;
    const key = `${writer} ${call}`;
    if (kind !== "request") return kind === "response" ? this.#openReads.delete(key) : false;
    const isRead = headers?.["user-agent"] === CONSOLE_USER_AGENT && READ_OPERATIONS.has(operation);
    if (isRead) this.#openReads.add(key);
    return isRead;
  }
}
