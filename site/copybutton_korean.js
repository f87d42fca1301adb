// sphinx-copybutton speaks ten languages, Korean is not among them. Its script, loaded before, declares these globally.
messages.ko = { copy: "복사", copy_to_clipboard: "복사", copy_success: "복사했습니다", copy_failure: "복사하지 못했습니다" };
iconCheck = iconCheck.replace(messages[locale].copy_success, messages.ko.copy_success);
iconCopy = iconCopy.replace(messages[locale].copy_to_clipboard, messages.ko.copy_to_clipboard);
locale = "ko";
// A deferred script runs when the page is there, so it has made its buttons already.
for (const button of document.querySelectorAll("button.copybtn")) {
    button.dataset.tooltip = messages.ko.copy;
    button.innerHTML = iconCopy;
}
