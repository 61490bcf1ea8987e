import type { ComponentType } from "preact";
import { computed, type ReadonlySignal, signal, type Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { AgentReloadNotice, ConsoleAgent } from "../../console-api/index.ts";
import type { TrafficLine } from "../../../observe/trace/index.ts";
import type { TrafficSource, WatchConnection } from "../source/traffic-source.ts";
import { formatRoute, type PageRoute, parseRoute, type ScreenName } from "./route.ts";

/** Delay after a line that may change the status of an agent, in milliseconds. */
const AGENT_REFRESH_DELAY_MS = 1_000;
/** Time for which a toast is visible, in milliseconds. */
const TOAST_MS = 4_000;

/** A screen of the page. */
export interface ScreenDefinition {
  readonly title: string;
  readonly component: ComponentType;
  /** The key after `g` that opens the screen. Missing for screens without an entry in the navigation. */
  readonly key?: string;
  /** Whether the navigation offers the screen for the source of the page. Default: always. */
  readonly isOffered?: (state: PageState) => boolean;
}

/** The screens of a page. The order of the navigation is the order of `SCREEN_NAMES`. */
export type ScreenTable = Readonly<Partial<Record<ScreenName, ScreenDefinition>>>;

/** State that all screens share. A screen reads it with `usePageState`. */
export interface PageState {
  readonly source: TrafficSource;
  readonly screens: ScreenTable;
  readonly route: ReadonlySignal<PageRoute>;
  readonly agents: Signal<readonly ConsoleAgent[]>;
  readonly connection: Signal<WatchConnection>;
  /** The last notice of `colloquy dev` about each agent, until the page no longer shows it. */
  readonly reloadNotices: Signal<ReadonlyMap<string, AgentReloadNotice>>;
  /** Text for screen readers, which the page announces when it changes. */
  readonly announcement: Signal<string>;
  /** Text that the page shows for a short time, or an empty string. */
  readonly toast: ReadonlySignal<string>;
  /** Shows a text for a short time, and announces it. */
  readonly showToast: (text: string) => void;
  /** Calls `onLines` with each batch of new lines, and returns a function that ends the calls. */
  readonly subscribeToLines: (onLines: (lines: readonly TrafficLine[]) => void) => () => void;
  /** Reads the agents again, for example after a sign-in. */
  readonly refreshAgents: () => Promise<void>;
  readonly navigate: (
    screen: ScreenName,
    segments?: readonly string[],
    params?: Readonly<Record<string, string | number | undefined>>,
  ) => void;
  /** Changes parameters of the current route without a new entry in the browser's history. */
  readonly replaceParams: (params: Readonly<Record<string, string | number | undefined>>) => void;
  /** Finds an agent by its id. A name is enough in links, if no agent has the id. */
  readonly findAgent: (idOrName: string) => ConsoleAgent | undefined;
  /** Starts to watch the source and the URL, and returns a function that ends both. */
  readonly start: () => () => void;
}

/** Creates the state of a page that shows `source`. */
export function createPageState(
  source: TrafficSource,
  screens: ScreenTable,
  firstScreen: ScreenName = "tasks",
): PageState {
  const hash = signal(location.hash);
  const route = computed((): PageRoute => {
    const parsed = parseRoute(hash.value, firstScreen);
    return screens[parsed.screen] === undefined ? parseRoute("", firstScreen) : parsed;
  });
  const agents = signal<readonly ConsoleAgent[]>([]);
  const connection = signal<WatchConnection>({ state: "connecting" });
  const reloadNotices = signal<ReadonlyMap<string, AgentReloadNotice>>(new Map());
  const announcement = signal("");
  const toast = signal("");
  let toastTimer: ReturnType<typeof setTimeout> | undefined;
  const lineListeners = new Set<(lines: readonly TrafficLine[]) => void>();

  const refreshAgents = async (): Promise<void> => {
    agents.value = await source.listAgents();
  };
  const onHashChange = (): void => {
    hash.value = location.hash;
  };
  const goTo = (fragment: string, isNewEntry: boolean): void => {
    history[isNewEntry ? "pushState" : "replaceState"](undefined, "", fragment);
    hash.value = location.hash;
  };
  return {
    source,
    screens,
    route,
    agents,
    connection,
    reloadNotices,
    announcement,
    toast,
    showToast(text) {
      clearTimeout(toastTimer);
      toast.value = text;
      announcement.value = text;
      toastTimer = setTimeout(() => (toast.value = ""), TOAST_MS);
    },
    subscribeToLines(onLines) {
      lineListeners.add(onLines);
      return () => lineListeners.delete(onLines);
    },
    refreshAgents,
    navigate: (screen, segments, params) => goTo(formatRoute(screen, segments, params), true),
    replaceParams(params) {
      const { screen, segments, params: current } = route.value;
      goTo(formatRoute(screen, segments, { ...current, ...params }), false);
    },
    findAgent: (idOrName) =>
      agents.value.find(({ id }) => id === idOrName) ?? agents.value.find(({ name }) => name === idOrName),
    start() {
      addEventListener("hashchange", onHashChange);
      addEventListener("popstate", onHashChange);
      let agentTimer: ReturnType<typeof setTimeout> | undefined;
      const refreshAgentsSoon = (): void => {
        agentTimer ??= setTimeout(() => {
          agentTimer = undefined;
          // The header shows the lost connection, and the next line tries again.
          refreshAgents().catch(() => undefined);
        }, AGENT_REFRESH_DELAY_MS);
      };
      const stop = source.watchLines(
        (lines) => {
          for (const listener of lineListeners) listener(lines);
          if (lines.some(changesAgents)) refreshAgentsSoon();
        },
        (state) => {
          const wasLost = connection.value.state === "reconnecting";
          connection.value = state;
          if (state.state !== "live") return;
          // The stream begins with the failures that remain.
          reloadNotices.value = new Map();
          // A restarted server can have other agents.
          if (wasLost) refreshAgentsSoon();
        },
        (notice) => {
          reloadNotices.value = new Map(reloadNotices.value).set(notice.agent, notice);
          // The cards of reloaded agents can differ.
          refreshAgents().catch(() => undefined);
        },
      );
      return () => {
        removeEventListener("hashchange", onHashChange);
        removeEventListener("popstate", onHashChange);
        clearTimeout(agentTimer);
        stop();
      };
    },
  };
}

/** A card changes an agent, and a response may change its status. */
function changesAgents({ kind }: TrafficLine): boolean {
  return kind === "agent" || kind === "response";
}

const PageStateContext = createContext<PageState | undefined>(undefined);
export const PageStateProvider = PageStateContext.Provider;

/** Returns the state of the page. Only components below `PageStateProvider` may call this function. */
export function usePageState(): PageState {
  const state = useContext(PageStateContext);
  if (state === undefined) throw new Error("usePageState was called outside of PageStateProvider.");
  return state;
}
