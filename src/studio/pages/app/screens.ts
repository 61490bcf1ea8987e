import { AgentsScreen } from "../agents/agents-screen.tsx";
import { CompareScreen } from "../compare/compare-screen.tsx";
import { FlowScreen } from "../flow/flow-screen.tsx";
import { TaskScreen } from "../task/task-screen.tsx";
import { TasksScreen } from "../tasks/tasks-screen.tsx";
import type { ScreenTable } from "./page-state.ts";

/** The screens that a console and a record have in common. */
export const COMMON_SCREENS: ScreenTable = {
  tasks: { title: "Tasks", component: TasksScreen, key: "t" },
  task: { title: "Task", component: TaskScreen, isOffered: () => false },
  flow: { title: "Flow", component: FlowScreen, key: "f" },
  agents: { title: "Agents", component: AgentsScreen, key: "a" },
  compare: { title: "Compare", component: CompareScreen, key: "d" },
};
