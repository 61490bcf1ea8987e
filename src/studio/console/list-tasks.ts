import { getSharedRedactor } from "../../observe/logging/index.ts";
import { A2AError, isObject, type JsonValue, type Message } from "../../protocol/index.ts";
import type { ConsoleTaskList, ConsoleTaskQuery, ConsoleTaskSummary } from "../console-api/index.ts";
import type { PositionedTask, TaskListing } from "./agent-source.ts";

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;

/** The position in each list after the returned tasks. `null` marks a list without further tasks. */
type PagePositions = Record<string, JsonValue>;

/**
 * Merges the tasks of several lists into pages with the newest status first. A page token contains the position in each
 * list. The cost of a page does not depend on the number of tasks. A list that fails is reported, and does not prevent
 * the others.
 */
export async function listTasksOfListings(
  listings: readonly TaskListing[],
  { pageToken, pageSize = DEFAULT_PAGE_SIZE, ...filter }: ConsoleTaskQuery,
): Promise<ConsoleTaskList> {
  const limit = Math.min(Math.max(1, pageSize), MAX_PAGE_SIZE);
  const positions = pageToken === undefined ? {} : decodePageToken(pageToken);
  const { agent, text } = filter;
  const wanted = listings.filter((listing) => agent === undefined || listing.hasAgent(agent));
  const problems: { agent: string; message: string }[] = [];
  const next: PagePositions = {};
  const heads = await Promise.all(
    wanted.map(async (listing) => {
      const position = positions[listing.id];
      // A list without a text index finds nothing.
      if (position === null || (text !== undefined && !listing.searchesText)) {
        next[listing.id] = null;
        return { listing, tasks: [], hasMore: false };
      }
      try {
        if (position !== undefined) next[listing.id] = position;
        const { problem, ...listed } = await listing.list(filter, position, limit);
        if (problem !== undefined) problems.push({ agent: listing.id, message: problem });
        return { listing, ...listed, tasks: [...listed.tasks] };
      } catch (error) {
        problems.push({ agent: listing.id, message: A2AError.from(error).message });
        next[listing.id] = null;
        return { listing, tasks: [], hasMore: false };
      }
    }),
  );
  const page: ConsoleTaskSummary[] = [];
  // The tasks of a list keep their order, because the list continues after the position of the last task.
  while (page.length < limit) {
    const [newest] = heads
      .flatMap(({ listing, tasks }) => (tasks[0] ? [{ id: listing.id, tasks, task: tasks[0] }] : []))
      .toSorted((a, b) => compareNewestFirst(a.task, b.task));
    if (!newest) break;
    page.push(newest.task.summary);
    next[newest.id] = newest.task.position;
    newest.tasks.shift();
  }
  const finished = heads.filter(({ tasks, hasMore }) => !hasMore && tasks.length === 0);
  for (const { listing } of finished) next[listing.id] = null;
  return {
    tasks: page,
    ...(finished.length === heads.length ? {} : { nextPageToken: encodePageToken(next) }),
    isTextSearchable: wanted.some(({ searchesText }) => searchesText),
    problems,
  };
}

/** Compares tasks of lists with the newest status first. */
export function compareNewestFirst({ summary: a }: PositionedTask, { summary: b }: PositionedTask): number {
  if (a.updatedAt !== b.updatedAt) return a.updatedAt < b.updatedAt ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}

function encodePageToken(positions: PagePositions): string {
  return Buffer.from(JSON.stringify(positions)).toString("base64url");
}

function decodePageToken(token: string): PagePositions {
  try {
    const positions: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (isObject(positions)) return positions;
  } catch {
    // The token is refused below.
  }
  throw A2AError.invalidParams([
    {
      field: "pageToken",
      description: "was not issued by this console; omit it to start with the first page",
    },
  ]);
}

/** Returns the first characters of the first text among the parts of messages, on one line. */
export function formatPreview(...messages: readonly (Pick<Message, "parts"> | undefined)[]): string {
  for (const message of messages) {
    const text = message?.parts.flatMap((part) => ("text" in part ? part.text : [])).join(" ");
    if (text) return getSharedRedactor().redactAndTruncate(text, 200).replaceAll(/\s+/g, " ");
  }
  return "";
}
