/** The rules for task stores, for tests of other task stores. */
export { TASK_STORE_RULES, type TaskStoreRule } from "./task-store-rules.ts";
