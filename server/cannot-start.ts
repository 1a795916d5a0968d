/** The reason why the server or a tool cannot start, as a sentence for the operator. Printed without a stack. */
export class CannotStart extends Error {}
