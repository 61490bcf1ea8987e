import type { ComponentType } from "preact";
import { AgentsScreen } from "../agents/agents-screen.tsx";
import { CompareScreen } from "../compare/compare-screen.tsx";
import { FlowScreen } from "../flow/flow-screen.tsx";
import { TaskScreen } from "../task/task-screen.tsx";
import { TasksScreen } from "../tasks/tasks-screen.tsx";
import type { PageState } from "./page-state.ts";
import type { ScreenName } from "./route.ts";

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

/** The screens that a console and a record have in common. */
export const COMMON_SCREENS: ScreenTable = {
  tasks: { title: "Tasks", component: TasksScreen, key: "t" },
  task: { title: "Task", component: TaskScreen, isOffered: () => false },
  flow: { title: "Flow", component: FlowScreen, key: "f" },
  agents: { title: "Agents", component: AgentsScreen, key: "a" },
  compare: { title: "Compare", component: CompareScreen, key: "d" },
};
