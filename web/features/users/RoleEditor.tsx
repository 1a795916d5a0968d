export default function RoleEditor() {
  return null;
}
