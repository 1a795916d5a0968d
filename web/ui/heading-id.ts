/** Names the screen for screen readers, which say it when the focus moves there. In a file of its own: see decision record 67. */
export const headingId = 'screen';
