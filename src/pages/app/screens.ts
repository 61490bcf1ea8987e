import type { ComponentType } from "preact";
import { AgentsScreen } from "../agents/agents-screen.tsx";
import { CardsScreen } from "../cards/cards-screen.tsx";
import { ChatScreen } from "../chat/chat-screen.tsx";
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
  /** Whether the navigation offers the screen for the source of the page. */
  readonly isOffered: (state: PageState) => boolean;
}

/** All screens. The order is the order of the navigation. */
export const SCREENS: Readonly<Record<ScreenName, ScreenDefinition>> = {
  tasks: { title: "Tasks", component: TasksScreen, key: "t", isOffered: () => true },
  task: { title: "Task", component: TaskScreen, isOffered: () => false },
  chat: {
    title: "Chat",
    component: ChatScreen,
    key: "c",
    isOffered: ({ source }) => source.actions !== undefined && source.session.canAct,
  },
  flow: { title: "Flow", component: FlowScreen, key: "f", isOffered: () => true },
  agents: { title: "Agents", component: AgentsScreen, key: "a", isOffered: () => true },
  compare: { title: "Compare", component: CompareScreen, key: "d", isOffered: () => true },
  cards: {
    title: "Cards",
    component: CardsScreen,
    key: "k",
    isOffered: ({ source }) => source.cardRun !== undefined,
  },
};
