/** Records a violation in one field of a request. */
export type RequestViolationReporter = (field: string, description: string) => undefined;
