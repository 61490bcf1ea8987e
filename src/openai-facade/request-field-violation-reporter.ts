/** Records a violation in one field of a request. */
export type RequestFieldViolationReporter = (field: string, description: string) => undefined;
