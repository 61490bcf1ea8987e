import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type PageState, usePageState } from "../app/page-state.ts";
import type { ConsoleTaskList, ConsoleTaskQuery } from "../../console-api/index.ts";
import type { TrafficLine } from "../../../observe/trace/index.ts";
import { appendTaskPage, refreshTaskRows, type TaskRows } from "./task-pages.ts";

const PAGE_SIZE = 100;
/** Shortest time between two refreshes of a live list, in milliseconds. */
const REFRESH_INTERVAL_MS = 1_000;

/** The task list of a query, which grows page by page and follows changes. */
export interface LiveTaskList {
  readonly rows: TaskRows["rows"];
  readonly status: "loading" | "ready" | { readonly error: unknown };
  readonly hasMore: boolean;
  readonly isTextSearchable: boolean;
  readonly problems: ConsoleTaskList["problems"];
  readonly loadMore: () => void;
  readonly reload: () => void;
}

interface QueriedTaskRows extends TaskRows {
  readonly queryKey: string;
}

/** The last list of a page, which the screen shows while the console does not respond. */
const lastLists = new WeakMap<PageState, QueriedTaskRows>();

/** Lists the tasks of a query. A change of the query starts a new list. */
export function useTaskList(query: ConsoleTaskQuery): LiveTaskList {
  const page = usePageState();
  const { source, subscribeToLines } = page;
  const connection = page.connection.value.state;
  const queryKey = JSON.stringify(query);
  const [list, setList] = useState<QueriedTaskRows>(
    () => lastLists.get(page) ?? { queryKey, rows: [], nextPageToken: undefined },
  );
  const [status, setStatus] = useState<LiveTaskList["status"]>("loading");
  const [info, setInfo] = useState<Pick<ConsoleTaskList, "isTextSearchable" | "problems">>({
    isTextSearchable: source.session.features.searchesText,
    problems: [],
  });
  /** Identifies the query of a running request, so that late answers to old queries are ignored. */
  const generation = useRef(0);
  const isLoadingMore = useRef(false);

  useEffect(() => void lastLists.set(page, list), [list]);

  const load = useCallback(
    async (
      pageToken: string | undefined,
      apply: (current: TaskRows, page: TaskRows) => TaskRows,
    ): Promise<void> => {
      const own = generation.current;
      try {
        const answer = await source.listTasks({
          ...(JSON.parse(queryKey) as ConsoleTaskQuery),
          pageSize: PAGE_SIZE,
          ...(pageToken === undefined ? {} : { pageToken }),
        });
        if (generation.current !== own) return;
        const answered = { rows: answer.tasks, nextPageToken: answer.nextPageToken };
        setList((current) => ({ ...apply(current, answered), queryKey }));
        setInfo(answer);
        setStatus("ready");
      } catch (error) {
        if (generation.current === own) setStatus({ error });
      }
    },
    [source, queryKey],
  );
  useEffect(() => {
    generation.current += 1;
    setStatus("loading");
    void load(undefined, (_current, page) => page);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = subscribeToLines((lines) => {
      if (timer !== undefined || !lines.some(changesTaskList)) return;
      timer = setTimeout(() => {
        timer = undefined;
        void load(undefined, refreshTaskRows);
      }, REFRESH_INTERVAL_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [load, subscribeToLines]);

  const isOutdated = useRef(false);
  useEffect(() => {
    if (connection === "live" && isOutdated.current) void load(undefined, refreshTaskRows);
    isOutdated.current = connection === "reconnecting";
  }, [connection]);

  const { nextPageToken } = list;
  return {
    // The rows of another query remain visible until its response, but not after a failure.
    rows: typeof status === "object" && list.queryKey !== queryKey ? [] : list.rows,
    status,
    hasMore: nextPageToken !== undefined,
    ...info,
    loadMore: useCallback(() => {
      if (nextPageToken === undefined || isLoadingMore.current) return;
      isLoadingMore.current = true;
      void load(nextPageToken, appendTaskPage).finally(() => {
        isLoadingMore.current = false;
      });
    }, [load, nextPageToken]),
    reload: () => {
      setStatus("loading");
      void load(undefined, (_current, page) => page);
    },
  };
}

function changesTaskList({ kind }: TrafficLine): boolean {
  return kind === "event" || kind === "frame" || kind === "response" || kind === "turn" || kind === "loss";
}
