/**
 * In the browser, on /docs: the key that was entered is forgotten with the page, unless a box is ticked. Swagger UI keeps what it is
 * authorized with in the local storage while `persistAuthorization` is set; ticking and unticking sets and clears it.
 */
const STORED = 'authorized';

window.addEventListener('swagger-ui', ({ detail: { authActions, authSelectors, getConfigs } }) => {
  const keep = (isKept) => {
    getConfigs().persistAuthorization = isKept;
    if (isKept) localStorage.setItem(STORED, JSON.stringify(authSelectors.authorized().toJS()));
    else localStorage.removeItem(STORED);
  };

  const stored = localStorage.getItem(STORED);
  if (stored !== null) {
    authActions.restoreAuthorization({ authorized: JSON.parse(stored) });
    keep(true);
  }

  const box = document.createElement('input');
  box.type = 'checkbox';
  box.id = 'keep-key';
  box.checked = stored !== null;
  box.addEventListener('change', () => keep(box.checked));

  const label = document.createElement('label');
  label.className = 'keep-key';
  label.append(box, ' Keep the key in this browser');

  // Next to the button "Authorize".
  const place = () => {
    const area = document.querySelector('.auth-wrapper');
    if (area !== null && !area.contains(label)) area.prepend(label);
  };
  new MutationObserver(place).observe(document.querySelector('#swagger-ui'), { childList: true, subtree: true });
  place();
});
