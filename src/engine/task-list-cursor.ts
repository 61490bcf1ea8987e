/** Position in a list of tasks that is sorted by status timestamp and task id, both in descending order. */
export interface TaskListCursor {
  readonly timestamp: string;
  readonly taskId: string;
}
