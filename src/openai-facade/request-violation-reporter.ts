/** Records a violation of one field of a request. */
export type RequestViolationReporter = (field: string, description: string) => undefined;
